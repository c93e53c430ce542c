import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { until } from '../client/peers.ts'
import { bearer } from '../protected-resource/endpoint.ts'
import { Issuer, ISSUER, RESOURCE } from '../protected-resource/issuer.ts'
import { settled } from '../settled.ts'
import { createHandler } from '../../src/presets/server.ts'
import { jwtTokens, protectedResource } from '../../src/protected-resource/index.ts'
import { fixture, httpPeer } from './fixture.ts'

const name = 'invoice.created'
const as = (principal: string) => ({ caller: { principal } })

describe('the right to subscribe', () => {
  test('is checked by polls and streams, before any event is delivered [E-EVT-301]', async () => {
    const made = fixture({
      invoices: { authorize: ({ principal, arguments: { customer } }) => principal === customer },
    })
    for (const method of ['events/poll', 'events/stream']) {
      const params = { name, arguments: { customer: 'alice' } }
      const refused = made.http.open(method, params, as('bob'))
      expect((await refused.response()).error?.code).toBe(-32012)
      expect(refused.messages).toHaveLength(1)
      const accepted = made.http.open(method, params, as('alice'))
      await until(() => accepted.messages.length > 0)
      expect(accepted.messages[0]?.error).toBeUndefined()
      accepted.cancel()
    }
  })

  test('is checked with the principal, the authorization and the validated arguments [E-EVT-300]', async () => {
    const asked: unknown[] = []
    const made = fixture({ invoices: { authorize: (request) => asked.push(request) > 0 } })
    const caller = { principal: 'alice', auth: { subject: 'alice' }, env: { KEY: 1 } }
    await made.http.result('events/poll', { name, arguments: { customer: 'c1' } }, { caller })
    expect(asked).toEqual([{ ...caller, arguments: { customer: 'c1' } }])
  })

  test('is checked at each poll [E-EVT-302]', async () => {
    let isAllowed = true
    const made = fixture({ invoices: { authorize: async () => isAllowed } })
    const { cursor } = await made.http.result('events/poll', { name })
    await made.emit('in_1')
    isAllowed = false
    expect((await made.http.call('events/poll', { name, cursor })).error?.code).toBe(-32012)
  })

  test('is checked before events are sent on a stream, which ends without them [E-EVT-302]', async () => {
    let isAllowed = true
    const made = fixture({ invoices: { authorize: () => isAllowed } })
    const stream = made.http.open('events/stream', { name })
    await stream.received('active')
    await made.emit('in_1')
    await stream.received('event')
    isAllowed = false
    await made.emit('in_2')
    const [terminated] = await stream.received('terminated')
    expect(terminated?.params?.error?.code).toBe(-32012)
    await stream.response()
    expect(stream.of('event')).toHaveLength(1)
  })

  describe('in quiet times', () => {
    beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
    afterEach(() => void vi.useRealTimers())

    test('is checked with each heartbeat [E-EVT-302]', async () => {
      let isAllowed = true
      const made = fixture({ invoices: { authorize: () => isAllowed } })
      const stream = made.http.open('events/stream', { name })
      await stream.received('active')
      vi.advanceTimersByTime(25_000)
      await stream.received('heartbeat')
      isAllowed = false
      vi.advanceTimersByTime(25_000)
      expect((await stream.received('terminated'))[0]?.params?.error?.code).toBe(-32012)
    })
  })
})

describe('a subscription that is revoked', () => {
  test('ends with the same error in each mode [E-EVT-283]', async () => {
    const made = fixture()
    const stream = made.http.open('events/stream', { name }, as('mallory'))
    const other = made.http.open('events/stream', { name }, as('alice'))
    await stream.received('active')
    await other.received('active')
    await made.http.result('events/poll', { name }, as('mallory'))
    await made.events.revoke({ principal: 'mallory' }, 'account_closed')
    const [terminated] = await stream.received('terminated')
    const polled = await made.http.call('events/poll', { name }, as('mallory'))
    expect(terminated?.params?.error).toEqual(polled.error)
    expect(polled.error).toMatchObject({ code: -32012, data: { reason: 'account_closed' } })
    await made.emit('in_1')
    await other.received('event')
    expect((await made.http.call('events/poll', { name }, as('alice'))).error).toBeUndefined()
    other.cancel()
  })

  test('is selected by its principal, type or id', async () => {
    const ids: string[] = []
    const made = fixture({ invoices: { onSubscribe: ({ id }) => ids.push(String(id)) } })
    made.type('other')
    const one = made.http.open('events/stream', { name })
    await one.received('active')
    // A filter that selects nothing by mistake must not select everything
    const filters: [object, string][] = [
      [{}, 'Cannot revoke without'],
      [{ principal: null }, 'Cannot revoke without'],
      [{ principle: 'mallory' }, '"revoke" has no option "principle"'],
      [{ name, principle: 'mallory' }, '"revoke" has no option "principle"'],
    ]
    for (const [filter, message] of filters) {
      await expect(made.events.revoke(filter)).rejects.toThrow(message)
    }
    const two = made.http.open('events/stream', { name })
    const other = made.http.open('events/stream', { name: 'other' })
    await two.received('active')
    await other.received('active')
    await made.events.revoke({ id: ids[0]! })
    await one.received('terminated')
    await settled()
    expect([two.of('terminated'), other.of('terminated')]).toEqual([[], []])
    await made.events.revoke({ name: 'other' })
    await other.received('terminated')
    await settled()
    expect(two.of('terminated')).toEqual([])
    two.cancel()
  })
})

describe('an access token', () => {
  test('that expires ends a stream [E-EVT-303]', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
    const made = fixture()
    const caller = { principal: 'alice', auth: { expiresAt: Date.now() + 60_000 } }
    const stream = made.http.open('events/stream', { name }, { caller })
    for (let turn = 0; stream.of('active').length === 0 && turn < 1000; turn++) await settled()
    expect(stream.closed).toBe(false)
    vi.advanceTimersByTime(61_000)
    for (let turn = 0; !stream.closed && turn < 1000; turn++) await settled()
    expect(stream.closed).toBe(true)
    vi.useRealTimers()
    await made.emit('in_1')
    await settled()
    expect(stream.of('event')).toEqual([])
  })

  test('needs the scopes of the event type, before the request is dispatched [E-EVT-299] [E-EVT-300]', async () => {
    const issuer = await Issuer.make()
    const { server, type } = fixture()
    type('audit', { scopes: ['audit.read'] })
    const handle = createHandler(server, {
      auth: protectedResource({
        resource: RESOURCE,
        authorizationServers: [ISSUER],
        scopes: ['mcp'],
        verify: jwtTokens({ fetch: issuer.fetch }),
      }),
    })
    const peer = async (scope: string) =>
      httpPeer(handle, { url: RESOURCE, headers: bearer(await issuer.token({ scope })) })
    const some = await peer('mcp')
    expect((await some.result('events/list')).events).toHaveLength(2)
    await some.result('tools/list')
    await some.result('events/poll', { name })
    for (const method of ['events/poll', 'events/stream', 'events/subscribe']) {
      const refused = await some.call(method, { name: 'audit' })
      expect(refused.status).toBe(403)
    }
    await (await peer('mcp audit.read')).result('events/poll', { name: 'audit' })
    const anonymous = await httpPeer(handle, { url: RESOURCE }).call('events/list')
    expect(anonymous.status).toBe(401)
  })
})
