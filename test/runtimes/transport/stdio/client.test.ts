import { realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { spawn, spawnSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type {
  StdioClientOptions,
  ChildTransport,
} from '../../../../src/transport/stdio/child-transport.ts'
import { connect } from '../../../../src/presets/client.ts'
import { stdioClient } from '../../../../runtimes/node/index.ts'
import type { ProtocolError } from '../../../../src/protocol/errors.ts'
import type { JsonRpcMessage } from '../../../../src/protocol/types.ts'
import type { Receiver } from '../../../../src/transport/index.ts'
import { PATIENCE } from '../../../patience.ts'

/** The answers of a program, which the tests wait for. */
class Answers implements Receiver {
  readonly frames: unknown[] = []
  readonly errors: ProtocolError[] = []
  readonly closes: (Error | undefined)[] = []

  message(frame: unknown): void {
    this.frames.push(frame)
  }
  malformed(error: ProtocolError): void {
    this.errors.push(error)
  }
  closed(reason?: Error): void {
    this.closes.push(reason)
  }
  frame(index = 0): Promise<Record<string, unknown>> {
    return vi.waitFor(() => {
      expect(this.frames.length).toBeGreaterThan(index)
      return this.frames[index] as Record<string, unknown>
    }, PATIENCE)
  }
  close(): Promise<Error | undefined> {
    return vi.waitFor(() => {
      expect(this.closes).toHaveLength(1)
      return this.closes[0]
    }, PATIENCE)
  }
}

const open: ChildTransport[] = []
afterEach(() => Promise.all(open.splice(0).map((transport) => transport.close())))

/** Starts a program from JavaScript source. */
async function run(
  script: string,
  options: Partial<StdioClientOptions> = {},
): Promise<{ transport: ChildTransport; answers: Answers }> {
  const transport = stdioClient({
    command: process.execPath,
    args: ['-e', script],
    graceMs: 300,
    ...options,
  })
  open.push(transport)
  const answers = new Answers()
  await transport.start(answers)
  return { transport, answers }
}

/** A program that sends back every line. */
const ECHO = `process.stdin.pipe(process.stdout)`
/** A program that prints one value and then waits for the end of its input. */
const print = (value: string): string =>
  `console.log(JSON.stringify(${value})); process.stdin.resume()`

const ping = (id: number, text = ''): JsonRpcMessage => ({
  jsonrpc: '2.0',
  id,
  method: 'ping',
  params: { text },
})

/** Whether a process runs: one that has ended and was not waited for does not count. */
function runs(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
  return /^[^Z]/.test(stdout)
}

describe('starting', () => {
  test('a program exchanges messages in both directions, large and in any script [L-STDIO-001] [L-STDIO-002]', async () => {
    const { transport, answers } = await run(ECHO)
    const messages = [ping(1, 'a—é漢😀\u2028\n'), ping(2, '漢'.repeat(3_000_000)), ping(3)]
    await Promise.all(messages.map((message) => transport.send(message)))
    await answers.frame(2)
    expect(answers.frames).toEqual(messages)
    expect(answers.errors).toEqual([])
  })

  test('a program receives arguments and folder as they are, without a shell [L-STDIO-002] [M-STDIO-001]', async () => {
    const args = ['a b', '"quoted"', "it's", '; touch x', '$HOME', '*', '', 'é']
    const cwd = realpathSync(tmpdir())
    const { answers } = await run('', {
      args: ['-e', print('{ args: process.argv.slice(1), cwd: process.cwd() }'), '--', ...args],
      cwd,
    })
    expect(await answers.frame()).toEqual({ args, cwd })
  })

  test('a program inherits no secret of this process unless it is passed on [L-STDIO-016] [M-STDIO-035]', async () => {
    process.env.EDGEWISE_TEST_SECRET = 'secret'
    try {
      const { answers } = await run(print('process.env'), { env: { TOKEN: 't', HOME: undefined } })
      const env = await answers.frame()
      expect(env).toMatchObject({ PATH: process.env.PATH, TOKEN: 't' })
      expect(env).not.toHaveProperty('EDGEWISE_TEST_SECRET')
      expect(env).not.toHaveProperty('HOME')
    } finally {
      delete process.env.EDGEWISE_TEST_SECRET
    }
  })

  test('a host sees the complete command once before it runs, and can reject it [L-STDIO-015]', async () => {
    const long = 'x'.repeat(10_000)
    const approve = vi.fn().mockResolvedValue(true)
    const args = ['-e', ECHO, '--', long]
    const { transport } = await run('', { args, env: { TOKEN: 't' }, approve })
    await transport.restart()
    const program = { command: process.execPath, args, cwd: undefined, env: { TOKEN: 't' } }
    expect(approve.mock.calls).toEqual([[program]])

    const refused = stdioClient({ command: process.execPath, args, approve: () => false })
    await expect(refused.start(new Answers())).rejects.toMatchObject({ code: 'DENIED' })
    expect(refused.pid).toBeUndefined()
  })

  test('a program that does not exist is reported at once', async () => {
    const transport = stdioClient({ command: 'edgewise-no-such-program' })
    await expect(transport.start(new Answers())).rejects.toMatchObject({
      code: 'INVALID_USE',
      message: 'Cannot start "edgewise-no-such-program": there is no such program',
    })
    await expect(transport.send(ping(1))).rejects.toMatchObject({ code: 'CLOSED' })
    await transport.close()
  })

  test('a folder that does not exist, or a file that is not a program, is named in the error', async () => {
    const lost = stdioClient({ command: process.execPath, cwd: '/no/such/folder' })
    await expect(lost.start(new Answers())).rejects.toThrow('there is no folder "/no/such/folder"')
    const folder = stdioClient({ command: tmpdir() })
    await expect(folder.start(new Answers())).rejects.toMatchObject({ code: 'INVALID_USE' })
  })
})

describe('while it runs', () => {
  test('a running program receives only messages on its stdin [L-STDIO-007] [M-STDIO-006]', async () => {
    const { transport, answers } = await run(
      `let all = ''; process.stdin.on('data', (d) => (all += d)).on('end', () => console.log(JSON.stringify({ all })))`,
      { graceMs: 60_000 },
    )
    const received: unknown[] = []
    answers.message = (frame) => void received.push(frame)
    await transport.send(ping(1))
    await transport.send(ping(2))
    await transport.close()
    // Nothing is delivered after close; the program's own account is read by another one.
    expect(received).toEqual([])
    const second = await run(
      `let all = ''; process.stdin.on('data', (d) => { all += d; if (all.split('\\n').length === 3) console.log(JSON.stringify({ all })) })`,
    )
    await second.transport.send(ping(1))
    await second.transport.send(ping(2))
    const lines = [ping(1), ping(2)].map((message) => JSON.stringify(message) + '\n')
    expect(await second.answers.frame()).toEqual({ all: lines.join('') })
  })

  test('a line on its stdout that is not a message is reported, and the connection continues [L-STDIO-014] [M-STDIO-012]', async () => {
    const { transport, answers } = await run(
      `console.log('Welcome!'); process.stdout.write('half a '); setTimeout(() => { console.log('line'); ${ECHO} }, 20)`,
    )
    await transport.send(ping(1))
    expect(await answers.frame()).toEqual(ping(1))
    expect(answers.errors).toHaveLength(2)
    expect(answers.closes).toEqual([])
  })

  test('a program that writes 10 MB to its stderr continues to run [L-STDIO-008] [L-STDIO-009] [L-STDIO-010] [M-STDIO-007] [M-STDIO-008] [M-STDIO-009]', async () => {
    let length = 0
    const script = `process.stderr.write('é'.repeat(5 << 20), () => { ${ECHO} })`
    const { transport, answers } = await run(script, {
      stderr: (text) => {
        expect(text).not.toContain('\uFFFD')
        length += text.length
      },
    })
    await transport.send(ping(1))
    await answers.frame()
    await vi.waitFor(() => expect(length).toBe(5 << 20), PATIENCE)
    expect(answers.closes).toEqual([])

    const ignored = await run(script, { stderr: 'ignore' })
    await ignored.transport.send(ping(1))
    await ignored.answers.frame()
  })

  test('a program has its stderr forwarded to that of this process by default', async () => {
    const script = `
      import { stdioClient } from './runtimes/node/index.ts'
      const transport = stdioClient({ command: process.execPath, args: ['-e', 'console.error("a log line")'], graceMs: 60000 })
      await transport.start({ message() {}, malformed() {}, closed() {} })
      await transport.close()`
    const args = ['--import', 'tsx', '--input-type=module-typescript', '-e', script]
    const child = spawn(
      process.execPath,
      args.filter((arg) => !arg.includes('typescript')),
    )
    let text = ''
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    await new Promise((resolve) => child.on('close', resolve))
    expect(text).toContain('a log line')
  })

  test('a message over the limit is reported, and the next one arrives', async () => {
    const { transport, answers } = await run(ECHO, { maxMessageBytes: 1000 })
    await transport.send(ping(1, 'x'.repeat(2000)))
    await transport.send(ping(2))
    expect(await answers.frame()).toEqual(ping(2))
    expect(answers.errors).toHaveLength(1)
  })
})

describe('its end', () => {
  test('a program that exits on its own notifies the receiver once, after the last message [L-STDIO-012] [M-STDIO-022]', async () => {
    const { transport, answers } = await run(
      `process.stdout.write(JSON.stringify({ text: 'x'.repeat(8 << 20) }) + '\\n')`,
    )
    expect((await answers.close())?.message).toContain('ended with code 0')
    expect((await answers.frame()).text).toHaveLength(8 << 20)
    await expect(transport.send(ping(1))).rejects.toMatchObject({ code: 'CLOSED' })
    await transport.close()
    await sleep(50)
    expect(answers.closes).toHaveLength(1)
  })

  test('a program that exits with a failure closes the transport with a reason that says how [M-STDIO-024]', async () => {
    const code = await run('process.exit(3)')
    expect(await code.answers.close()).toMatchObject({
      code: 'CLOSED',
      message: `The server "${process.execPath}" ended with code 3`,
      data: { code: 3, signal: null },
    })
    const { transport, answers } = await run(ECHO)
    await transport.send(ping(1))
    await answers.frame()
    process.kill(transport.pid!, 'SIGKILL')
    expect((await answers.close())?.message).toContain('was ended by SIGKILL')
  })

  test('a write to a program that has exited fails, and closes the transport once', async () => {
    const { transport, answers } = await run('process.exit(0)', { stderr: 'ignore' })
    const big = ping(1, 'x'.repeat(1 << 20))
    await expect(
      (async () => {
        for (;;) await transport.send(big)
      })(),
    ).rejects.toMatchObject({ code: 'CLOSED' })
    await answers.close()
  })

  test('closing ends the stdin of a polite program, which can send its last messages [L-STDIO-011] [M-STDIO-019]', async () => {
    const { transport, answers } = await run(
      `const log = (s) => process.stderr.write(s + ' ')
       process.on('SIGTERM', () => log('SIGTERM'))
       process.stdin.on('end', () => { process.stdout.write('x'.repeat(1 << 20), () => log('written')) }).resume()
       process.on('exit', () => log('exit'))
       console.log('{}')`,
      { graceMs: 60_000, stderr: (text) => (log += text) },
    )
    let log = ''
    await answers.frame()
    const { pid } = transport
    await transport.close()
    expect(runs(pid!)).toBe(false)
    await vi.waitFor(() => expect(log).toBe('written exit '), PATIENCE)
    expect(answers.closes).toEqual([undefined])
  })

  test('closing sends SIGTERM to a program that ignores the end of its stdin [L-STDIO-011] [M-STDIO-019]', async () => {
    const { transport, answers } = await run(
      `setInterval(() => {}, 1000)
       const ended = new Promise((resolve) => process.stdin.on('end', () => process.stderr.write('EOF ', resolve)).resume())
       process.on('SIGTERM', async () => { await ended; process.stderr.write('SIGTERM', () => process.exit()) })
       console.log('{}')`,
      { graceMs: 3000, stderr: (text) => (log += text) },
    )
    let log = ''
    await answers.frame()
    const { pid } = transport
    await transport.close()
    expect(runs(pid!)).toBe(false)
    await vi.waitFor(() => expect(log).toBe('EOF SIGTERM'), PATIENCE)
  })

  test('closing sends SIGKILL to a program that ignores SIGTERM, and to everything that it started [L-STDIO-011] [M-STDIO-019] [M-STDIO-020]', async () => {
    const { transport, answers } = await run(
      `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)
       const child = require('child_process').spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000); console.log(JSON.stringify({ pid: process.pid }))'], { stdio: 'inherit' })`,
    )
    const grandchild = (await answers.frame()).pid as number
    const { pid } = transport
    await Promise.all([transport.close(), transport.close()])
    expect(runs(pid!)).toBe(false)
    await vi.waitFor(() => expect(runs(grandchild)).toBe(false), PATIENCE)
    expect(answers.closes).toEqual([undefined])
  })

  test('a child process that an exited program left behind ends with it, and does not keep the transport open [M-STDIO-020]', async () => {
    const { answers } = await run(
      `require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' })
       console.log('{}'); setTimeout(() => process.exit(0), 50)`,
    )
    await answers.frame()
    expect((await answers.close())?.message).toContain('ended with code 0')
  })

  test('closing sends SIGKILL to a child process that a polite program left behind and that ignores SIGTERM [S021]', async () => {
    const { transport, answers } = await run(
      `process.stdin.on('end', () => process.exit()).resume()
       require('child_process').spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000); console.log(JSON.stringify({ pid: process.pid }))'], { stdio: 'inherit' })`,
    )
    const grandchild = (await answers.frame()).pid as number
    await transport.close()
    expect(runs(grandchild)).toBe(false)
  })

  test('closing waits for the child processes that an exited program left behind [S021]', async () => {
    const { transport, answers } = await run(
      `process.stdin.on('data', () => process.exit())
       require('child_process').spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000); console.log(JSON.stringify({ pid: process.pid }))'], { stdio: 'inherit' })`,
    )
    const grandchild = (await answers.frame()).pid as number
    await transport.send(ping(1))
    await answers.close()
    await transport.close()
    expect(runs(grandchild)).toBe(false)
  })

  test('closing does not hang while the program is busy writing and reads nothing', async () => {
    const { transport, answers } = await run(
      `const line = 'x'.repeat(1 << 16) + '\\n'; console.log('{}'); const go = () => process.stdout.write(line, go); go()`,
    )
    await answers.frame()
    void transport.send(ping(1, 'x'.repeat(1 << 20))).catch(() => {})
    await transport.close()
    expect(transport.pid).toBeUndefined()
  })

  test('closing while the program starts ends it', async () => {
    const transport = stdioClient({ command: process.execPath, args: ['-e', ECHO], graceMs: 300 })
    const started = transport.start(new Answers())
    await transport.close()
    await expect(started).rejects.toMatchObject({ code: 'CLOSED' })
    expect(transport.pid).toBeUndefined()
  })
})

describe('restart', () => {
  test('a restart after the exit passes the messages of a new process to the same receiver [M-STDIO-023] [M-STDIO-031]', async () => {
    const { transport, answers } = await run(
      `process.stdin.once('data', (d) => { process.stdout.write(d); process.exit(1) })`,
    )
    await transport.send(ping(1))
    await answers.close()
    const first = transport.pid
    await transport.restart()
    expect(transport.pid).not.toBe(first)
    await transport.send(ping(2))
    expect(await answers.frame(1)).toEqual(ping(2))
    await vi.waitFor(() => expect(answers.closes).toHaveLength(2), PATIENCE)
  })

  test('a restart replaces a running process, whose end is not reported', async () => {
    const { transport, answers } = await run(ECHO)
    const { pid } = transport
    await transport.restart()
    expect(runs(pid!)).toBe(false)
    await transport.send(ping(1))
    expect(await answers.frame()).toEqual(ping(1))
    expect(answers.closes).toEqual([])
  })

  test('a restart is rejected after too many in a row, each later than the one before [M-STDIO-026]', async () => {
    const { transport } = await run('process.exit(1)', { maxRestarts: 3 })
    const waits: number[] = []
    const random = vi.spyOn(Math, 'random').mockReturnValue(0)
    for (let i = 0; i < 3; i++) {
      const timer = vi.spyOn(globalThis, 'setTimeout')
      await transport.restart()
      const asked = timer.mock.calls.map(([, ms]) => ms ?? 0)
      waits.push([0, 100, 200].filter((ms) => asked.includes(ms)).pop() ?? 0)
      timer.mockRestore()
    }
    random.mockRestore()
    expect(waits).toEqual([0, 100, 200])
    await expect(transport.restart()).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' })
  })

  test('a restart is rejected after the transport was closed', async () => {
    const { transport } = await run(ECHO)
    await transport.close()
    await expect(transport.restart()).rejects.toMatchObject({ code: 'CLOSED' })
  })
})

describe('connect', () => {
  /** A legacy server that does something of its own with what it does not know. */
  const legacy = (unknown: string): string => `
    require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, params } = JSON.parse(line)
      const answer = (body) => console.log(JSON.stringify({ jsonrpc: '2.0', id, ...body }))
      if (method === 'initialize') answer({ result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'old', version: '1' } } })
      else if (method === 'tools/list') answer({ result: { tools: [] } })
      else if (id !== undefined) { ${unknown} }
    })`

  test.each([
    ['dies of the probe', 'process.exit(1)', 60_000],
    ['dies of the probe by a signal', 'process.kill(process.pid, "SIGKILL")', 60_000],
    ['does not answer the probe', '', 1000],
    ['refuses the probe', 'answer({ error: { code: -32601, message: "No" } })', 60_000],
    ['answers the probe with noise', 'console.log("What is " + method + "?")', 1000],
  ])(
    'to an old server that %s opens a session [M-STDIO-027] [M-STDIO-029] [M-STDIO-031]',
    async (_name, unknown, probeTimeoutMs) => {
      const transport = stdioClient({ command: process.execPath, args: ['-e', legacy(unknown)] })
      const client = await connect(transport, { probeTimeoutMs })
      expect(client.revision).toBe('2025-11-25')
      expect(await client.listAllTools()).toEqual([])
      await client.close()
      expect(transport.pid).toBeUndefined()
    },
  )

  test('to a program that does not exist, or that dies at once, is a clear error', async () => {
    const missing = stdioClient({ command: 'edgewise-no-such-program' })
    await expect(connect(missing)).rejects.toThrow('there is no such program')
    const dying = stdioClient({ command: process.execPath, args: ['-e', 'process.exit(7)'] })
    await expect(connect(dying)).rejects.toThrow('ended with code 7')
  })

  test('to a program that ends with 0 before it answers names the code and the last line of its stderr [I008]', async () => {
    const script = `console.error('Usage: server --root <folder>'); process.exit(0)`
    const quitting = stdioClient({ command: process.execPath, args: ['-e', script] })
    await expect(connect(quitting)).rejects.toMatchObject({
      code: 'CLOSED',
      message: expect.stringMatching(/ended with code 0: Usage: server --root <folder>$/) as string,
    })
  })

  test('to a program that throws names the error, not the version of Node after it [P033]', async () => {
    const script = `console.error('Reading'); throw new TypeError('The variable "KEY" is not set')`
    const throwing = stdioClient({ command: process.execPath, args: ['-e', script] })
    await expect(connect(throwing)).rejects.toMatchObject({
      message: expect.stringMatching(
        /ended with code 1: TypeError: The variable "KEY" is not set$/,
      ) as string,
    })
  })

  test('to a program that ends at every start says why it is not started again [I008]', async () => {
    const script = `console.error('No licence'); process.exit(0)`
    const quitting = stdioClient({
      command: process.execPath,
      args: ['-e', script],
      maxRestarts: 0,
    })
    await expect(connect(quitting)).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
      cause: { message: expect.stringMatching(/ended with code 0: No licence$/) as string },
    })
  })

  /** A server whose first message decides: after any other than `initialize` it gives no session. */
  const tied = (
    refuse: string,
    unknown = `answer({ error: { code: -32601, message: 'No' } })`,
  ): string => `
    let first
    require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, params } = JSON.parse(line)
      first ??= method
      const answer = (body) => console.log(JSON.stringify({ jsonrpc: '2.0', id, ...body }))
      if (id === undefined) return
      if (first !== 'initialize' && method === 'initialize') { ${refuse} }
      else if (method === 'initialize') answer({ result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'tied', version: '1' } } })
      else if (method === 'tools/list') answer({ result: { tools: [{ name: String(process.pid), inputSchema: { type: 'object' } }] } })
      else { ${unknown} }
    })`

  const already = 'answer({ error: { code: -32600, message: "Initialized already" } })'

  test.each([
    ['refuses', already, undefined, 60_000],
    ['dies of', 'process.exit(0)', undefined, 60_000],
    ['refuses, having not answered the probe in time,', already, '', 200],
  ])(
    'to a server that %s a session after the probe starts it once more [I002]',
    async (_name, refuse, unknown, probeTimeoutMs) => {
      const starts: number[] = []
      const child = stdioClient({ command: process.execPath, args: ['-e', tied(refuse, unknown)] })
      const transport = {
        start: (receiver: Receiver) => child.start(receiver),
        send: (frame: JsonRpcMessage | readonly JsonRpcMessage[]) => {
          if (child.pid !== undefined && !starts.includes(child.pid)) starts.push(child.pid)
          return child.send(frame)
        },
        close: () => child.close(),
        restart: () => child.restart(),
      }
      await using client = await connect(transport, { probeTimeoutMs })
      expect(client.revision).toBe('2025-11-25')
      expect((await client.listAllTools()).map(({ name }) => name)).toEqual([String(child.pid)])
      expect(starts).toHaveLength(2)
    },
  )

  test('to a server that refuses every session starts it once more only, and says what each attempt returned [I002]', async () => {
    const never = `answer({ error: { code: -32600, message: 'Never' } })`
    const script = tied(never).replace("first !== 'initialize' && ", '')
    const child = stdioClient({ command: process.execPath, args: ['-e', script], maxRestarts: 1 })
    await expect(connect(child, { revision: ['2026-07-28', '2025-11-25'] })).rejects.toMatchObject({
      code: -32600,
      message: '2026-07-28: No; 2025-11-25: Never; 2025-11-25: Never',
    })
  })

  test('calls in flight fail at once when the program dies [M-STDIO-024]', async () => {
    const transport = stdioClient({ command: process.execPath, args: ['-e', legacy('')] })
    const client = await connect(transport, { revision: '2025-11-25' })
    const call = client.callTool('hang')
    process.kill(transport.pid!, 'SIGKILL')
    await expect(call).rejects.toMatchObject({ code: 'CLOSED' })
    await client.close()
  })
})

test('a process that exits without closing its transport ends what it started', async () => {
  const script = `
    import { stdioClient } from './runtimes/node/index.ts'
    const transport = stdioClient({ command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'] })
    await transport.start({ message() {}, malformed() {}, closed() {} })
    console.log(transport.pid)
    process.exit(0)`
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script])
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  await new Promise((resolve) => child.on('close', resolve))
  expect(Number(text)).toBeGreaterThan(0)
  await vi.waitFor(() => expect(runs(Number(text))).toBe(false), PATIENCE)
})
