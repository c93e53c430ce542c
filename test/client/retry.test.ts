import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { connect, retry, throttle, type Client } from '../../src/presets/client.ts'
import type { JsonObject } from '../../src/index.ts'
import { error, json, modernPeer, result, type HttpPeer, type ScriptedRequest } from './peers.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const content = [{ type: 'text', text: 'a' }]
const tools = [
  { name: 'read', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
  { name: 'set', inputSchema: { type: 'object' }, annotations: { idempotentHint: true } },
  { name: 'write', inputSchema: { type: 'object' }, annotations: { readOnlyHint: 'false' } },
]

/** A server that answers calls with the given responses, and then with a result. */
function peerOf(...failures: ((request: ScriptedRequest) => Response)[]): HttpPeer {
  return modernPeer((request) => {
    if (request.message.method === 'tools/list') {
      return result(request, { resultType: 'complete', tools, ttlMs: 0, cacheScope: 'private' })
    }
    const failure = failures.shift()
    return failure ? failure(request) : result(request, { resultType: 'complete', content })
  })
}

async function connectTo(peer: HttpPeer): Promise<Client> {
  return connect('https://a.example/mcp', { fetch: peer.fetch, cache: false })
}

const unavailable = () => json({}, 503)
const limited =
  (headers: Record<string, string>, data?: JsonObject) => (request: ScriptedRequest) =>
    data
      ? json(
          { jsonrpc: '2.0', id: request.message.id, error: { code: 429, message: 'Limit', data } },
          429,
          headers,
        )
      : json({}, 429, headers)

/** Runs timers until a call settles; resolves with the outcome and the passed milliseconds. */
async function settle<T>(call: Promise<T>): Promise<{ value?: T; failure?: unknown; ms: number }> {
  const start = performance.now()
  let outcome: { value?: T; failure?: unknown } | undefined
  call.then(
    (value) => (outcome = { value }),
    (failure: unknown) => (outcome = { failure }),
  )
  for (let turn = 0; turn < 200 && !outcome; turn++) {
    await vi.advanceTimersByTimeAsync(0)
    if (!outcome && vi.getTimerCount() > 0 && turn % 20 === 19)
      await vi.advanceTimersToNextTimerAsync()
  }
  return { ...outcome, ms: performance.now() - start }
}

describe('retry', () => {
  it.each(['read', 'set'])('repeats calls of the tool "%s" with backoff', async (name) => {
    const peer = peerOf(unavailable, unavailable)
    const client = await connectTo(peer)
    client.use(retry())
    const { value, ms } = await settle(client.callTool(name))
    expect(value).toMatchObject({ content })
    expect(peer.received('tools/call')).toHaveLength(3)
    expect(ms).toBeGreaterThanOrEqual(3_000)
    expect(ms).toBeLessThanOrEqual(3_750)
  })

  it('repeats requests of the protocol that only read, and no call that may write twice', async () => {
    const peer = peerOf(unavailable, unavailable)
    const client = await connectTo(peer)
    client.use(retry())
    expect((await settle(client.getPrompt('p'))).failure).toMatchObject({ code: 'INVALID_MESSAGE' })
    expect(peer.received('prompts/get')).toHaveLength(3)
    const writing = await connectTo(peerOf(unavailable))
    writing.use(retry())
    expect((await settle(writing.callTool('write'))).failure).toMatchObject({ code: 'HTTP' })
    const allowed = await connectTo(peerOf(unavailable))
    allowed.use(retry({ isIdempotent: ({ params }) => params.name === 'write' }))
    expect((await settle(allowed.callTool('write'))).value).toMatchObject({ content })
  })

  it('ends after the given number of attempts, with the last error', async () => {
    const peer = peerOf(unavailable, unavailable, unavailable)
    const client = await connectTo(peer)
    client.use('tools/call', retry({ maxAttempts: 2, firstDelayMs: 10 }))
    expect((await settle(client.callTool('read'))).failure).toMatchObject({ code: 'HTTP' })
    expect(peer.received('tools/call')).toHaveLength(2)
  })

  it('does not repeat errors of the server, nor calls that were aborted', async () => {
    const peer = peerOf((request) => error(request, -32602))
    const client = await connectTo(peer)
    client.use(retry())
    expect((await settle(client.callTool('read'))).failure).toMatchObject({ code: -32602 })
    const controller = new AbortController()
    const aborted = await connectTo(peerOf(unavailable))
    aborted.use(retry())
    const call = aborted.callTool('read', {}, { signal: controller.signal })
    const outcome = call.catch((failure: unknown) => failure)
    await vi.advanceTimersByTimeAsync(100)
    controller.abort()
    expect(await outcome).toMatchObject({ code: 'ABORTED' })
  })

  it('waits for as long as `retryAfterMs` says, or else `Retry-After`, up to the maximum [E-EXT-075]', async () => {
    const inSeconds = (seconds: number): string =>
      new Date(Date.now() + seconds * 1_000).toUTCString()
    for (const [failure, min, max] of [
      // The body is no JSON-RPC message, or a JSON-RPC error
      ...[undefined, {}].flatMap((data) => [
        [() => limited({ 'retry-after': '30' }, data), 30_000, 37_500] as const,
        [() => limited({ 'retry-after': inSeconds(20) }, data), 18_000, 26_000] as const,
      ]),
      [() => limited({ 'retry-after': '30' }, { retryAfterMs: 5_000 }), 5_000, 6_250],
      [() => limited({}, { retryAfterMs: 864_000_000 }), 60_000, 75_000],
    ] as const) {
      const peer = peerOf(failure())
      const client = await connectTo(peer)
      client.use(retry())
      const { value, ms } = await settle(client.callTool('read'))
      expect(value).toMatchObject({ content })
      expect(peer.received('tools/call')).toHaveLength(2)
      expect(ms).toBeGreaterThanOrEqual(min)
      expect(ms).toBeLessThanOrEqual(max)
    }
  })

  it('does not repeat a request that was refused with 429 without a time, unless its options say so [E-EXT-076]', async () => {
    for (const refusal of [limited({}), limited({}, { retryAfterMs: -1 })]) {
      const peer = peerOf(refusal)
      const client = await connectTo(peer)
      client.use(retry())
      const { failure } = await settle(client.callTool('read'))
      expect(failure).toBeInstanceOf(Error)
      expect(peer.received('tools/call')).toHaveLength(1)
    }
    const willing = await connectTo(peerOf(limited({})))
    willing.use(retry({ retryOn429: true }))
    expect((await settle(willing.callTool('read'))).value).toMatchObject({ content })
  })

  it('looks up annotations once, within the timeouts of the call, and then remembers them', async () => {
    let isDown = false
    const peer = modernPeer((request) => {
      if (isDown) throw new TypeError('fetch failed')
      if (request.message.method === 'tools/list') {
        return result(request, { resultType: 'complete', tools, ttlMs: 0, cacheScope: 'private' })
      }
      return json({}, 503)
    })
    const client = await connectTo(peer)
    client.use('tools/call', retry())
    await settle(client.callTool('write'))
    await settle(client.callTool('write'))
    expect(peer.received('tools/list')).toHaveLength(1)
    isDown = true
    const unlisted = await settle(client.callTool('other'))
    expect(unlisted).toMatchObject({ failure: { code: 'NETWORK' }, ms: 0 })
    const controller = new AbortController()
    const { signal } = controller
    setTimeout(() => controller.abort(), 100)
    const aborted = await settle(client.callTool('read', {}, { signal }))
    expect(aborted).toMatchObject({ failure: { code: 'ABORTED' }, ms: 100 })
  })

  it('limits all attempts together by `maxTimeoutMs`', async () => {
    const peer = peerOf(unavailable, unavailable, unavailable)
    const client = await connectTo(peer)
    client.use(retry({ maxAttempts: 10 }))
    const { failure, ms } = await settle(client.callTool('read', {}, { maxTimeoutMs: 2_000 }))
    expect(failure).toMatchObject({ code: 'HTTP' })
    expect(ms).toBeLessThan(2_000)
    expect(peer.received('tools/call')).toHaveLength(2)
  })

  it.each(['-5', '1.5', 'soon 1', '1, 2', '+1'])(
    'ignores the header `Retry-After: %s`, which is malformed',
    async (header) => {
      const peer = peerOf(limited({ 'retry-after': header }))
      const client = await connectTo(peer)
      client.use(retry())
      await settle(client.getPrompt('p'))
      expect(peer.received('prompts/get')).toHaveLength(1)
    },
  )

  it('rejects unknown options', () => {
    expect(() => retry({ attempts: 3 } as never)).toThrow('has no option "attempts"')
  })
})

describe('throttle', () => {
  it('delays requests so that no period has more than the limit', async () => {
    const at: number[] = []
    const peer = modernPeer((request) => {
      at.push(performance.now())
      return result(request, { resultType: 'complete', content })
    })
    const client = await connectTo(peer)
    client.use('tools/call', throttle({ requests: 2, perMs: 1_000 }))
    const calls = Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => client.callTool(name)))
    await vi.advanceTimersByTimeAsync(5_000)
    await calls
    const start = at[0] ?? 0
    expect(at.map((time) => Math.round((time - start) / 1_000))).toEqual([0, 0, 1, 1, 2])
    expect(peer.received('tools/call').map(({ message }) => message.params?.name)).toEqual([
      'a',
      'b',
      'c',
      'd',
      'e',
    ])
  })

  it('is shared by the clients that use one value, and ends its wait when a call is aborted', async () => {
    const layer = throttle({ requests: 1, perMs: 1_000 })
    const peer = peerOf()
    const one = await connectTo(peer)
    const two = await connectTo(peer)
    one.use(layer)
    two.use(layer)
    await one.callTool('read')
    const controller = new AbortController()
    const waiting = two.callTool('read', {}, { signal: controller.signal })
    const outcome = waiting.catch((failure: unknown) => failure)
    await vi.advanceTimersByTimeAsync(500)
    expect(peer.received('tools/call')).toHaveLength(1)
    controller.abort()
    expect(await outcome).toMatchObject({ code: 'ABORTED' })
  })

  it('gives the place of an aborted request to the next one', async () => {
    const peer = peerOf()
    const client = await connectTo(peer)
    client.use(throttle({ requests: 1, perMs: 1_000 }))
    await client.callTool('read')
    const controllers = [new AbortController(), new AbortController()] as const
    const aborted = controllers.map(({ signal }) =>
      client.callTool('read', {}, { signal }).catch((failure: unknown) => failure),
    )
    const last = settle(client.callTool('read'))
    controllers[1].abort()
    controllers[0].abort()
    for (const outcome of aborted) expect(await outcome).toMatchObject({ code: 'ABORTED' })
    const { value, ms } = await last
    expect(value).toMatchObject({ content })
    expect(ms).toBeLessThanOrEqual(1_000)
    expect(peer.received('tools/call')).toHaveLength(2)
  })

  it('rejects limits that are not positive, or longer than a timer', () => {
    expect(() => throttle({ requests: 0, perMs: 1 })).toThrow('positive')
    for (const perMs of [Number.NaN, Infinity, 2 ** 31]) {
      expect(() => throttle({ requests: 1, perMs })).toThrow('positive')
    }
  })
})
