import { expect, test } from 'vitest'
import type { ChildExit, ChildProcess } from '../../src/transport/stdio/child-process.ts'
import { childTransport } from '../../src/transport/stdio/child-transport.ts'

const ignored = { message() {}, malformed() {}, closed() {} }
const ping = { jsonrpc: '2.0', id: 1, method: 'ping' } as const

/** A process whose stdin is broken, and which exits when `exit` is called. */
function brokenChild(): ChildProcess & { exit(): void } {
  let exit = (): void => {}
  const exited = new Promise<ChildExit>((resolve) => {
    exit = () => resolve({ code: 3, signal: null })
  })
  return {
    pid: 1,
    stdin: new WritableStream({ write: () => Promise.reject(new Error('EPIPE')) }),
    stdout: new ReadableStream(),
    stderr: new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('No licence\n'))
        controller.close()
      },
    }),
    exited,
    exit,
    kill: () => false,
  }
}

test('A message that a process no longer read because it has exited is rejected with the exit code and the last line of stderr', async () => {
  const child = brokenChild()
  const transport = childTransport({ command: 'demo', stderr: 'ignore' }, () =>
    Promise.resolve(child),
  )
  await transport.start(ignored)
  const sent = transport.send(ping)
  setTimeout(child.exit)
  await expect(sent).rejects.toMatchObject({
    code: 'CLOSED',
    message: 'The server "demo" ended with code 3: No licence',
    data: { code: 3, signal: null },
  })
  await transport.close()
})

test('A message to a process that is running, but does not read, is rejected as not sent', async () => {
  const child = brokenChild()
  const transport = childTransport({ command: 'demo', stderr: 'ignore' }, () =>
    Promise.resolve(child),
  )
  await transport.start(ignored)
  await expect(transport.send(ping)).rejects.toThrow('Cannot send: the connection is closed')
  child.exit()
  await transport.close()
})

test('Closing waits until a descendant that ignores SIGTERM has exited after SIGKILL [L-STDIO-011] [M-STDIO-019]', async () => {
  const child = brokenChild()
  let checksLeft = Infinity
  const signals: string[] = []
  child.kill = (signal) => {
    signals.push(signal)
    if (signal === 'SIGKILL') checksLeft = 3
    return signal !== 'SIGCONT' || checksLeft-- > 0
  }
  const transport = childTransport({ command: 'demo', stderr: 'ignore', graceMs: 100 }, () =>
    Promise.resolve(child),
  )
  await transport.start(ignored)
  child.exit()
  await transport.close()
  expect(signals.filter((signal) => signal !== 'SIGCONT')).toEqual(['SIGTERM', 'SIGKILL'])
  expect(checksLeft).toBe(-1)
})
