// How the wire inspector parses an event stream, however it is split.
import { afterEach, describe, expect, it, vi } from 'vitest'
import { watchedFetch } from '../../examples/playground/page/timeline/wire.ts'

afterEach(() => void vi.restoreAllMocks())

/** The bodies that are reported of a stream of these pieces, once it has passed. */
async function reported(pieces: readonly string[]): Promise<unknown[]> {
  const encoder = new TextEncoder()
  const stream = new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(encoder.encode(piece))
      controller.close()
    },
  })
  const headers = { 'content-type': 'text/event-stream' }
  const bodies: unknown[] = []
  const watched = watchedFetch(() => Promise.resolve(new Response(stream, { headers })), {
    report: ({ direction, body }) => void (direction === 'received' && bodies.push(body)),
    onReach() {},
    onSession() {},
    onSignedIn() {},
  })
  const response = await watched('https://example.com/mcp', {})
  expect(await response.text()).toBe(pieces.join(''))
  return bodies
}

describe('Playground: wire', () => {
  const text =
    ': hello\r\n\r\nid: 1\r\ndata: {"a":\r\ndata: 1}\r\n\r\nevent: x\n\ndata:{"b":"ü"}\n\n'

  it.each([
    ['at once', [text]],
    ['character by character', [...text]],
  ])('reports the messages of a stream that comes %s', async (_, pieces) => {
    expect(await reported(pieces)).toEqual([{ a: 1 }, { b: 'ü' }])
  })

  it('looks once at an event that comes in many pieces [P021]', async () => {
    const piece = 'x'.repeat(100)
    const split = vi.spyOn(String.prototype, 'split')
    expect(await reported(['data: "', ...Array<string>(1_000).fill(piece), '"\n\n'])).toHaveLength(
      1,
    )
    const looked = split.mock.contexts.reduce((sum: number, each) => sum + String(each).length, 0)
    expect(looked).toBeLessThan(200_000)
  })
})
