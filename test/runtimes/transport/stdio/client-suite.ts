// What the client for child processes must do on every runtime: no test framework here.
import type {
  StdioClientOptions,
  ChildTransport,
} from '../../../../src/transport/stdio/child-transport.ts'
import type { JsonRpcMessage } from '../../../../src/protocol/types.ts'
import type { Receiver } from '../../../../src/transport/index.ts'
import { equal, ok, rejection, type Suite } from '../../harness.ts'

/** Takes what a program says, and lets a test wait for it. */
class Answers implements Receiver {
  readonly frames: unknown[] = []
  malformedCount = 0
  readonly closes: (Error | undefined)[] = []
  #changed = (): void => {}

  message(frame: unknown): void {
    this.frames.push(frame)
    this.#changed()
  }
  malformed(): void {
    this.malformedCount++
  }
  closed(reason?: Error): void {
    this.closes.push(reason)
    this.#changed()
  }

  /** Waits for so many messages and returns the last of them. */
  async frame(count = 1): Promise<unknown> {
    while (this.frames.length < count) await this.#change()
    return this.frames[count - 1]
  }

  async close(count = 1): Promise<Error | undefined> {
    while (this.closes.length < count) await this.#change()
    return this.closes[count - 1]
  }

  #change(): Promise<void> {
    return new Promise((resolve) => (this.#changed = resolve))
  }
}

const ECHO = 'process.stdin.pipe(process.stdout)'

const ping = (id: number, text = ''): JsonRpcMessage => ({
  jsonrpc: '2.0',
  id,
  method: 'ping',
  params: { text },
})

/** The tests. `node` is the path of a Node that runs the programs that are started. */
export function clientSuite(
  stdioClient: (options: StdioClientOptions) => ChildTransport,
  node: string,
): Suite {
  const run = async (
    script: string,
    options: Partial<StdioClientOptions> = {},
  ): Promise<{ transport: ChildTransport; answers: Answers }> => {
    const args = ['-e', script]
    const transport = stdioClient({ command: node, args, graceMs: 300, ...options })
    const answers = new Answers()
    await transport.start(answers)
    return { transport, answers }
  }

  return {
    'messages go both ways, large and in any script [L-STDIO-002]': async () => {
      const { transport, answers } = await run(ECHO)
      const messages = [ping(1, 'a—é漢😀\u2028\n'), ping(2, '漢'.repeat(1_000_000)), ping(3)]
      await Promise.all(messages.map((message) => transport.send(message)))
      await answers.frame(3)
      equal(answers.frames, messages)
      equal(answers.malformedCount, 0)
      await transport.close()
      equal(answers.closes.length, 1)
    },

    'arguments are passed as they are, without a shell [M-STDIO-001]': async () => {
      const args = ['a b', '"quoted"', '; touch x', '$HOME', '*', '', 'é']
      const script = 'console.log(JSON.stringify(process.argv.slice(1)))'
      const { transport, answers } = await run('', { args: ['-e', script, '--', ...args] })
      equal(await answers.frame(), args)
      await transport.close()
    },

    'the environment holds only the given variables and harmless ones [M-STDIO-035]': async () => {
      const script = 'console.log(JSON.stringify(Object.keys(process.env)))'
      const { transport, answers } = await run(script, { env: { TOKEN: 't', HOME: undefined } })
      const names = (await answers.frame()) as string[]
      ok(names.includes('TOKEN'), 'The given variable is missing')
      ok(!names.includes('HOME'), 'The variable that was taken away is there')
      ok(!names.includes('EDGEWISE_TEST_SECRET'), 'A variable of this process leaked')
      await transport.close()
    },

    'a program that does not exist is a clear error at once': async () => {
      const transport = stdioClient({ command: 'edgewise-no-such-program' })
      const error = await rejection(Promise.resolve(transport.start(new Answers())))
      equal(error.code, 'INVALID_USE')
      ok(String(error.message).startsWith('Cannot start "edgewise-no-such-program": '), 'Unclear')
      await transport.close()
    },

    'noise on stdout and much on stderr stop nothing [M-STDIO-009] [M-STDIO-012]': async () => {
      let length = 0
      const script = `console.log('Welcome!'); process.stderr.write('é'.repeat(1 << 20), () => { ${ECHO} })`
      const { transport, answers } = await run(script, {
        stderr: (text) => {
          length += text.length
        },
      })
      await transport.send(ping(1))
      equal(await answers.frame(), ping(1))
      equal(answers.malformedCount, 1)
      await transport.close()
      ok(length > 0 && length <= 1 << 20, `Got ${length} characters of stderr`)
    },

    'its own exit is reported once, with the reason, after its last message [L-STDIO-012] [M-STDIO-024]':
      async () => {
        const last = await run(`process.stdout.write(JSON.stringify('x'.repeat(4 << 20)) + '\\n')`)
        ok((await last.answers.close())?.message.endsWith('ended with code 0'), 'No exit code 0')
        equal(((await last.answers.frame()) as string).length, 4 << 20)
        await last.transport.close()
        equal(last.answers.closes.length, 1)

        const code = await run('process.exit(3)')
        ok((await code.answers.close())?.message.endsWith('ended with code 3'), 'No exit code')
        const signal = await run('process.kill(process.pid, "SIGKILL")')
        ok((await signal.answers.close())?.message.endsWith('was ended by SIGKILL'), 'No signal')
        equal((await rejection(signal.transport.send(ping(1)))).code, 'CLOSED')
      },

    'a program that ends names its exit code or signal and the last line of its stderr, however it ends [I008]':
      async () => {
        const ends: [script: string, how: string][] = [
          ['process.exit(0)', 'ended with code 0'],
          ['process.exit(3)', 'ended with code 3'],
          ['process.kill(process.pid, "SIGKILL")', 'was ended by SIGKILL'],
        ]
        let taken = ''
        const take = (text: string): void => {
          taken += text
          throw new Error('A broken hook')
        }
        for (const [end, how] of ends) {
          for (const stderr of ['ignore', take] as const) {
            const script = `require('fs').writeSync(2, 'Starting\\n\\x1b[2J\\nAPI_KEY is not set\\n\\n'); ${end}`
            const { answers } = await run(script, { stderr })
            equal(
              (await answers.close())?.message,
              `The server "${node}" ${how}: API_KEY is not set`,
            )
          }
        }
        equal(taken.split('API_KEY').length, 4)
        // What it printed is bounded
        const long = await run(`require('fs').writeSync(2, 'x'.repeat(5000)); process.exit(0)`, {
          stderr: 'ignore',
        })
        ok(((await long.answers.close())?.message.length ?? 0) < 500, 'The line is too long')
      },

    'close: the end of stdin, then SIGTERM, then SIGKILL [L-STDIO-011] [M-STDIO-019]': async () => {
      const log = `const log = (text) => require('fs').writeSync(2, text + ' ');
        const ended = new Promise((resolve) => process.stdin.on('end', () => resolve(log('EOF'))).resume());
        console.log('{}');`
      const lingers = `${log} setInterval(() => {}, 1000);`
      // On a busy machine the signal may arrive before the program reads that its stdin has ended.
      const programs: [script: string, graceMs: number, expected: string][] = [
        [`${log} process.on('SIGTERM', () => log('SIGTERM'))`, 60_000, 'EOF '],
        [
          `${lingers} process.on('SIGTERM', async () => { await ended; log('SIGTERM'); process.exit() })`,
          3000,
          'EOF SIGTERM ',
        ],
        [`${lingers} process.on('SIGTERM', () => {})`, 300, ''],
      ]
      for (const [script, graceMs, expected] of programs) {
        let said = ''
        let finish = (): void => {}
        const all = new Promise<void>((resolve) => (finish = resolve))
        const { transport, answers } = await run(script, {
          graceMs,
          stderr: (text) => {
            said += text
            if (said.length >= expected.length) finish()
          },
        })
        await answers.frame()
        await transport.close()
        equal(transport.pid, undefined)
        // One that is killed may not come to say anything
        if (!expected) continue
        await all
        equal(said, expected)
      }
    },

    'restart starts a new process for the same receiver [M-STDIO-023] [M-STDIO-031]': async () => {
      const { transport, answers } = await run(
        `process.stdin.once('data', (data) => process.stdout.write(data, () => process.exit(1)))`,
      )
      await transport.send(ping(1))
      await answers.close()
      await transport.restart()
      await transport.send(ping(2))
      equal(await answers.frame(2), ping(2))
      await answers.close(2)
      await transport.close()
      equal((await rejection(transport.restart())).code, 'CLOSED')
    },
  }
}
