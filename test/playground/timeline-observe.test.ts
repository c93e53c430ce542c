// How the timeline records HTTP exchanges, without changing them.
import { afterEach, describe, expect, it, vi } from 'vitest'
import { observedFetch, type Answer } from '../../examples/playground/page/timeline/observe.ts'
import type { SessionRecord } from '../../examples/playground/page/timeline/record.ts'

afterEach(() => void vi.restoreAllMocks())

/** Observes a `fetch` that returns a response, and what is recorded. */
function observe(response: Response | Promise<Response>) {
  const records: SessionRecord[] = []
  const answers: Answer[] = []
  const add = (record: SessionRecord): void => void records.push(record)
  const sink = {
    add,
    nextExchange: () => 1,
    secrets: new Set<string>(),
    sessionIds: new Set<string>(),
  }
  const fetch = observedFetch(sink, 1, () => Promise.resolve(response), {
    onAnswer: (answer) => answers.push(answer),
  })
  return { fetch, records, answers }
}

const encoder = new TextEncoder()
const headers = { 'content-type': 'text/event-stream' }

/** The bodies that are recorded of a stream of these pieces, after it has ended. */
async function recorded(pieces: readonly string[]): Promise<unknown[]> {
  const stream = new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(encoder.encode(piece))
      controller.close()
    },
  })
  const { fetch, records } = observe(new Response(stream, { headers }))
  const response = await fetch('https://example.com/mcp', {})
  expect(await response.text()).toBe(pieces.join(''))
  expect(records.at(-1)).toMatchObject({ type: 'end' })
  return records.flatMap((record) => (record.type === 'message' ? [record.json] : []))
}

describe('The timeline', () => {
  const text =
    ': hello\r\n\r\nid: 1\r\ndata: {"a":\r\ndata: 1}\r\n\r\nevent: x\n\ndata:{"b":"ü"}\n\n'

  it.each([
    ['at once', [text]],
    ['character by character', [...text]],
  ])('records the messages of a stream that comes %s', async (_, pieces) => {
    expect(await recorded(pieces)).toEqual([{ a: 1 }, { b: 'ü' }])
  })

  it('looks once at an event that comes in many pieces [P021]', async () => {
    const piece = 'x'.repeat(100)
    const split = vi.spyOn(String.prototype, 'split')
    expect(await recorded(['data: "', ...Array<string>(1_000).fill(piece), '"\n\n'])).toHaveLength(
      1,
    )
    const looked = split.mock.contexts.reduce((sum: number, each) => sum + String(each).length, 0)
    expect(looked).toBeLessThan(200_000)
  })

  it('records the type and the id of an event', async () => {
    const text = 'event: endpoint\nid: 7\ndata: /messages\n\n'
    const { fetch, records } = observe(new Response(text, { headers }))
    await (await fetch('https://example.com/sse', {})).text()
    const message = { type: 'message', event: 'endpoint', eventId: '7', text: '/messages' }
    expect(records).toContainEqual(expect.objectContaining(message))
  })

  it('passes on that the page cancels a stream', async () => {
    let cancelled: unknown
    const stream = new ReadableStream({ cancel: (reason) => void (cancelled = reason) })
    const { fetch, records } = observe(new Response(stream, { headers }))
    const response = await fetch('https://example.com/mcp', {})
    await response.body?.cancel('enough')
    expect(cancelled).toBe('enough')
    expect(records.at(-1)).toMatchObject({ type: 'end', aborted: true })
  })

  it('reads a stream only as fast as the page does', async () => {
    let pulled = 0
    const stream = new ReadableStream(
      {
        pull(controller) {
          pulled++
          controller.enqueue(encoder.encode('data: {}\n\n'))
        },
      },
      { highWaterMark: 0 },
    )
    const { fetch } = observe(new Response(stream, { headers }))
    const reader = (await fetch('https://example.com/mcp', {})).body!.getReader()
    await reader.read()
    expect(pulled).toBe(1)
    await reader.cancel()
  })

  it('lets the page do other work while it reads what arrived at once', async () => {
    const text = 'data: {}\n\n'.repeat(10_000)
    let at = 0
    // As if reading an event took a millisecond
    vi.spyOn(performance, 'now').mockImplementation(() => at++)
    let turns = 0
    let isRead = false
    const count = (): void => {
      turns++
      if (!isRead) setImmediate(count)
    }
    setImmediate(count)
    expect(await recorded([text])).toHaveLength(10_000)
    isRead = true
    expect(turns).toBeGreaterThan(15)
  })

  it('records a request without a response, and whether the page aborted it', async () => {
    const { fetch, records } = observe(Promise.reject(new TypeError('Failed to fetch')))
    await expect(fetch('https://example.com/mcp', {})).rejects.toThrow('Failed to fetch')
    expect(records.at(-1)).toMatchObject({ type: 'end', error: 'TypeError: Failed to fetch' })
    const signal = AbortSignal.abort()
    const aborted = observe(Promise.reject(new DOMException('Aborted', 'AbortError')))
    await expect(aborted.fetch('https://example.com/mcp', { signal })).rejects.toThrow('Aborted')
    expect(aborted.records.at(-1)).toMatchObject({ type: 'end', aborted: true })
  })

  it('passes on a response that a page cannot read', async () => {
    // Only a browser can create one
    const response = Object.defineProperty(Response.error(), 'type', { value: 'opaque' })
    const { fetch, records } = observe(response)
    expect(await fetch('https://example.com/mcp', { method: 'HEAD' })).toBe(response)
    expect(records.at(-2)).toMatchObject({ type: 'response', status: 0 })
  })

  it('passes on a response without a body, and one that is not a message', async () => {
    const empty = observe(new Response(null, { status: 204 }))
    expect((await empty.fetch('https://example.com/mcp', { method: 'DELETE' })).status).toBe(204)
    const page = '<title>Not found</title>'
    const html = observe(
      new Response(page, { status: 404, headers: { 'content-type': 'text/html' } }),
    )
    expect(await (await html.fetch('https://example.com/', {})).text()).toBe(page)
    expect(html.answers).toMatchObject([
      { status: 404, contentType: 'text/html', text: page, isMessage: false },
    ])
  })
})
