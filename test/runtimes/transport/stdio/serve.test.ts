// The same server as a program on each runtime, fed byte by byte, flooded, signalled and left alone.
import { afterEach, describe, expect, test } from 'vitest'
import { serveStdio } from '../../../../runtimes/node/index.ts'
import { bundleForNode, call, INITIALIZE, modernCall, Program } from './program.ts'

const bundled = await bundleForNode('main-node.ts')
const denoFlags = ['--no-remote', '--node-modules-dir=manual', '--no-prompt', '--no-lock']

describe.each([
  { runtime: 'Node', words: ['node', bundled] },
  // No permission is granted: serving over stdio must need none.
  {
    runtime: 'Deno',
    words: ['deno', 'run', ...denoFlags, 'test/runtimes/transport/stdio/main-deno.ts'],
  },
  { runtime: 'Bun', words: ['bun', '--no-install', 'test/runtimes/transport/stdio/main-bun.ts'] },
])('serveStdio on $runtime', ({ runtime, words }) => {
  const programs: Program[] = []
  const start = (): Program => {
    const program = new Program(words)
    programs.push(program)
    return program
  }
  afterEach(async () => {
    for (const program of programs.splice(0)) {
      program.child.kill('SIGKILL')
      await program.ended
    }
  })

  test('messages of both eras are read, however they are split and separated [L-STDIO-003] [L-STDIO-014] [M-STDIO-002] [M-STDIO-004] [M-STDIO-013]', async () => {
    const program = start()
    const said = 'a—é漢😀'
    const text = [
      '\uFEFF' + JSON.stringify(INITIALIZE) + '\r\n\r\n',
      JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }) + '\r\n',
      JSON.stringify(call(2, 'echo', { text: said })) + '\r\n',
      JSON.stringify(modernCall(3, 'echo', { text: said })) + '\n',
    ].join('')
    for (const byte of Buffer.from(text)) program.child.stdin.write(Buffer.of(byte))
    const content = [{ type: 'text', text: said }]
    expect((await program.response(2)).result).toEqual({ content })
    expect((await program.response(3)).result).toMatchObject({ content, resultType: 'complete' })

    const bad = ['{"id":7,"method":"ping"}', '{"jsonrpc":"2.0","id":8,"method":5}']
    const nameless = [
      '{"jsonrpc":"2.0","method":5}',
      '42',
      'null',
      '{"jsonrpc":"2.0","id":9',
      '"\xff"',
    ]
    program.child.stdin.write([...bad, ...nameless, ''].join('\n'), 'latin1')
    program.write({ jsonrpc: '2.0', id: 10, method: 'ping' })
    expect((await program.response(10)).result).toEqual({})
    expect(await program.response(7)).toMatchObject({ error: { code: -32600 } })
    expect(await program.response(8)).toMatchObject({ error: { code: -32600 } })
    const others = program.messages.filter((message) => !('id' in message))
    expect(others.every((message) => 'error' in message)).toBe(true)

    expect(program.lines.join('\n')).not.toMatch(/[\r\uFEFF]/)
    expect(program.messages.every((message) => message.jsonrpc === '2.0')).toBe(true)
  })

  test('output of a handler goes to stderr, not between the messages [L-STDIO-006] [L-STDIO-008] [M-STDIO-005] [M-STDIO-007]', async () => {
    const program = start()
    await program.initialize()
    program.write(call(1, 'print'))
    await program.response(1)
    program.child.stdin.end()
    await program.ended
    expect(program.messages.map(({ id }) => id)).toEqual(['init', 1])
    for (const word of ['log', 'info', 'debug', 'dir', 'group', 'trace']) {
      expect(program.stderr).toContain(word)
    }
  })

  test('nothing more is sent for a cancelled request [M-STDIO-017] [M-STDIO-018]', async () => {
    const program = start()
    await program.initialize()
    const cancel = (requestId: string): object => ({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId },
    })
    for (const [id, request] of Object.entries({ old: call, new: modernCall })) {
      program.stderr = ''
      program.write(request(id, 'talk'))
      await program.said('talking')
      program.write(cancel(id))
      // The handler goes on, logs and returns.
      await program.said('printed\nprinted')
      program.write({ jsonrpc: '2.0', id: `${id} ping`, method: 'ping' })
      await program.response(`${id} ping`)
    }
    program.write(call('waiting', 'wait'))
    await program.said('waiting')
    program.write(cancel('waiting'))
    await program.said('cancelled')
    program.write({ jsonrpc: '2.0', id: 'last ping', method: 'ping' })
    await program.response('last ping')
    const ids = program.messages.map(({ id }) => id)
    expect(ids).toEqual(['init', 'old ping', 'new ping', 'last ping'])
  })

  test('a server of 2026-07-28 asks in its result and sends no request [M-STDIO-011]', async () => {
    const program = start()
    program.write(modernCall(1, 'ask'))
    expect((await program.response(1)).result).toMatchObject({ resultType: 'input_required' })
    expect(program.messages).toHaveLength(1)
  })

  test('large answers that are written at once do not mix, and a quick one overtakes a slow one [L-STDIO-005] [M-STDIO-014] [M-STDIO-015]', async () => {
    const program = start()
    await program.initialize()
    program.write(call('slow', 'talk', { waitMs: 300 }), call('quick', 'echo', { text: '' }))
    const ids = Array.from({ length: 100 }, (_, id) => id)
    program.write(...ids.map((id) => call(id, 'repeat', { length: 1 << 17 })))
    await program.response('slow')
    const order = program.messages.map(({ id }) => id)
    expect(order.indexOf('quick')).toBeLessThan(order.indexOf('slow'))
    for (const id of ids) {
      const { result } = await program.response(id)
      expect(result?.content).toEqual([{ type: 'text', text: 'é'.repeat(1 << 16) }])
    }
  })

  test('a large answer arrives whole when the client closes stdin before it has read it [B009]', async () => {
    const program = start()
    await program.initialize()
    program.child.stdout.pause()
    program.write(call(1, 'repeat', { length: 8 << 20 }))
    await new Promise((resolve) => program.child.stdout.once('readable', resolve))
    program.child.stdin.end()
    program.child.stdout.resume()
    expect(await program.ended).toEqual({ code: 0, signal: null })
    const { result } = await program.response(1)
    expect(result?.content).toEqual([{ type: 'text', text: 'é'.repeat(4 << 20) }])
  })

  test('the end of stdin cancels running calls and ends the program [L-STDIO-013] [M-STDIO-021]', async () => {
    const program = start()
    await program.initialize()
    program.write(call(1, 'wait'))
    await program.said('waiting')
    program.child.stdin.end()
    expect(await program.ended).toEqual({ code: 0, signal: null })
    expect(program.stderr).toContain('cancelled')
    expect(program.stderr).toContain('served')
    expect(program.messages.map(({ id }) => id)).toEqual(['init'])
  })

  test('a handler that continues forever does not keep the program [M-STDIO-021]', async () => {
    const program = start()
    await program.initialize()
    program.write(call(1, 'hang'))
    await program.said('hanging')
    program.child.stdin.end()
    expect(await program.ended).toEqual({ code: 0, signal: null })
  })

  test.each(['SIGTERM', 'SIGINT'] as const)(
    '%s ends the server after it has flushed its messages',
    async (signal) => {
      const program = start()
      await program.initialize()
      program.write(call(1, 'wait'))
      await program.said('waiting')
      program.child.kill(signal)
      expect(await program.ended).toEqual({ code: 0, signal: null })
      expect(program.stderr).toContain('cancelled')
      expect(program.stderr).toContain('served')
    },
  )

  test('SIGTERM ends it even when the client reads nothing', async () => {
    const program = start()
    await program.initialize()
    program.child.stdout.pause()
    program.write(call(1, 'wait'), call(2, 'repeat', { length: 32 << 20 }))
    await program.said('waiting')
    program.child.kill('SIGTERM')
    // What is in the pipe already can be read once the program has ended.
    await new Promise((resolve) => program.child.once('exit', resolve))
    expect(program.lines).toHaveLength(1)
  })

  test('a client that vanishes ends it quietly, even while it still logs [M-STDIO-033] [B007]', async () => {
    const program = start()
    await program.initialize()
    program.write(call(1, 'talk', { waitMs: 200 }))
    await program.said('talking')
    program.child.stdout.destroy()
    program.child.stderr.destroy()
    expect(await program.ended).toEqual({ code: 0, signal: null })
  })

  if (runtime !== 'Node') return
  test('a value that is not a server is a TypeError at once', async () => {
    await expect(serveStdio({} as never)).rejects.toThrow(TypeError)
  })
})
