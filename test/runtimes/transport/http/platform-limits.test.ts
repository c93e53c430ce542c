import { describe, expect, test, vi } from 'vitest'
import { runToEnd } from '../../../process.ts'
import { connectTo, eventStream, legacyPeer, modernPeer } from '../../../client/peers.ts'

const file = 'test/runtimes/transport/http/platform-limits.ts'

describe("a platform's own time limit", () => {
  test.each([
    ['Node', ['tsx', file]],
    ['Bun', ['bun', file]],
  ])('of %s ends no call and no stream: timeoutMs alone counts [C019]', async (_, words) => {
    vi.stubEnv('BUN_CONFIG_HTTP_IDLE_TIMEOUT', '1')
    await runToEnd(words)
  })

  const undici = (code: string): Error =>
    new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code }) })

  test.each([
    ['UND_ERR_HEADERS_TIMEOUT', undici('UND_ERR_HEADERS_TIMEOUT')],
    ['UND_ERR_BODY_TIMEOUT', undici('UND_ERR_BODY_TIMEOUT')],
    ['The operation timed out', new DOMException('The operation timed out', 'TimeoutError')],
  ])(
    'that cannot be lifted is a TIMEOUT that names it, before the answer and inside it: %s [C019]',
    async (named, failure) => {
      const timeout = { code: 'TIMEOUT', message: expect.stringContaining(named) as string }
      const silent = modernPeer(() => Promise.reject(failure))
      await using one = await connectTo(silent)
      await expect(one.callTool('a')).rejects.toMatchObject(timeout)

      const broken = legacyPeer(() => {
        const body = new ReadableStream({
          pull(controller) {
            controller.error(failure)
          },
        })
        return new Response(body, eventStream().response)
      })
      await using other = await connectTo(broken)
      await expect(other.callTool('a')).rejects.toMatchObject(timeout)
    },
  )

  test('of connecting is still a NETWORK failure [C019]', async () => {
    const peer = modernPeer(() => Promise.reject(undici('UND_ERR_CONNECT_TIMEOUT')))
    await using client = await connectTo(peer)
    await expect(client.callTool('a')).rejects.toMatchObject({ code: 'NETWORK' })
  })
})
