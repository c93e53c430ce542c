import { describe, expect, test } from 'vitest'
import { events } from '../../src/events/events.ts'
import { streams, type StreamOptions } from '../../src/events/streams.ts'
import type { EventsOptions } from '../../src/events/options.ts'
import { createHandler, createServer, serverExtension } from '../../src/presets/server.ts'
import { openWire } from '../server/wire.ts'
import { duplexPeer, EXTENSION, fixture, httpPeer, type Message } from './fixture.ts'

const METHODS = [
  'events/list',
  'events/poll',
  'events/stream',
  'events/subscribe',
  'events/unsubscribe',
]

async function capabilitiesOf(options?: EventsOptions) {
  const { http } = fixture(options)
  const { capabilities } = await http.result('server/discover')
  return capabilities as { events?: object; extensions?: Record<string, object> }
}

describe('the capability', () => {
  test('is an extension with an object as its settings, without a revision [E-EVT-001] [E-EVT-328]', async () => {
    const { extensions } = await capabilitiesOf()
    expect(extensions?.[EXTENSION]).toEqual({ listChanged: true })
    expect(extensions?.[EXTENSION]).not.toHaveProperty('revision')
  })

  test('has the member "listChanged" only if the server notifies of changes [E-EVT-002]', async () => {
    expect((await capabilitiesOf({ listChanged: true })).extensions?.[EXTENSION]).toEqual({
      listChanged: true,
    })
    expect((await capabilitiesOf({ listChanged: false })).extensions?.[EXTENSION]).toEqual({})
    const text = JSON.parse('{"listChanged":"yes"}') as EventsOptions
    expect(() => events(text)).toThrow('"listChanged" must be a boolean')
  })

  test('is also declared at the top level, unless that is turned off [E-EVT-004]', async () => {
    expect((await capabilitiesOf()).events).toEqual({ listChanged: true })
    expect((await capabilitiesOf({ listChanged: false })).events).toEqual({})
    const only = await capabilitiesOf({ topLevelCapability: false })
    expect(only).not.toHaveProperty('events')
    expect(only.extensions).toHaveProperty([EXTENSION])
  })

  test('is not declared in sessions, and has no methods there [E-EVT-006]', async () => {
    const { server } = fixture()
    const wire = await openWire(server)
    const capabilities = wire.welcome.capabilities as Record<string, unknown>
    expect(capabilities).not.toHaveProperty('events')
    expect(JSON.stringify(capabilities)).not.toContain(EXTENSION)
    for (const method of METHODS) expect(await wire.code(method, { name: 'x' })).toBe(-32601)
  })

  test('is declared in sessions at the top level with the option for them, and its methods answer [E-EVT-006]', async () => {
    const { server } = fixture({ legacy: true })
    const wire = await openWire(server)
    const capabilities = wire.welcome.capabilities as Record<string, unknown>
    expect(capabilities.events).toEqual({})
    expect(JSON.stringify(capabilities)).not.toContain(EXTENSION)
    // Neither polls nor streams are defined in sessions, so a type without a webhook is not listed
    expect(await wire.result('events/list')).toEqual({ events: [] })
    expect(await wire.code('events/subscribe', { name: 'nope' })).toBe(-32011)
    expect(await wire.result('events/unsubscribe', { name: 'nope' })).toEqual({})
    expect(await wire.code('events/poll', { name: 'invoice.created' })).toBe(-32601)
    expect(await wire.code('events/stream', { name: 'invoice.created' })).toBe(-32601)
  })

  test('need not be declared by the client [E-EVT-008]', async () => {
    const { http } = fixture()
    const { result } = await http.call('events/list', {}, { capabilities: {} })
    expect(result?.events).toHaveLength(1)
  })

  test('is missing on servers that were not extended, which know none of its methods [E-EVT-010] [E-EVT-330]', async () => {
    const server = createServer({ name: 'plain', version: '1' })
    server.tool('ping', {}, () => 'pong')
    const http = httpPeer(createHandler(server))
    const { capabilities } = await http.result('server/discover')
    expect(JSON.stringify(capabilities)).not.toContain('events')
    for (const method of METHODS) {
      expect((await http.call(method, { name: 'x' })).error?.code).toBe(-32601)
    }
  })

  test('changes nothing in the rest of the protocol [E-EVT-011]', async () => {
    const requests: [string, object][] = [
      ['tools/list', {}],
      ['tools/call', { name: 'ping' }],
      ['resources/list', {}],
      ['prompts/get', { name: 'none' }],
      ['completion/complete', { ref: { type: 'ref/prompt', name: 'none' } }],
      ['no/such', {}],
      ['server/discover', {}],
    ]
    const exchange = async (isExtended: boolean): Promise<Message[]> => {
      const server = createServer({ name: 's', version: '1' })
      server.tool('ping', {}, () => 'pong')
      if (isExtended) server.extend(events())
      const http = httpPeer(createHandler(server))
      const answers: Message[] = []
      for (const [method, params] of requests) {
        const named = 'name' in params ? { 'mcp-name': String(params.name) } : {}
        answers.push(await http.call(method, { ...params }, { id: 1, headers: named }))
      }
      return answers
    }
    const [extended, plain] = [await exchange(true), await exchange(false)]
    const discovered = extended.at(-1)?.result?.capabilities as Record<string, unknown>
    delete discovered.events
    delete discovered.extensions
    expect(extended).toEqual(plain)
  })
})

test('every result has the type "complete" [E-EVT-012]', async () => {
  const made = fixture()
  const name = 'invoice.created'
  expect((await made.http.result('events/list')).resultType).toBe('complete')
  expect((await made.http.result('events/poll', { name })).resultType).toBe('complete')
  expect((await made.http.result('events/unsubscribe', { name })).resultType).toBe('complete')
  const stream = made.http.open('events/stream', { name })
  await stream.received('active')
  await made.events.close()
  expect((await stream.response()).result?.resultType).toBe('complete')
})

describe('another extension', () => {
  const foreign = (options: object) => () => {
    const server = createServer({ name: 's', version: '1' })
    server.extend(serverExtension({ id: 'com.example/x', ...options }))
  }

  test('cannot have methods or filter members of the events extension [E-EVT-014]', () => {
    const handle = () => ({})
    const filter = { accept: () => undefined, subscribe: () => () => {} }
    expect(foreign({ methods: { 'events/x': { handle } } })).toThrow('is reserved for')
    expect(foreign({ methods: { 'notifications/events/x': { handle } } })).toThrow('reserved')
    expect(foreign({ filters: { eventsListChanged: filter } })).toThrow('reserved')
    expect(foreign({ methods: { 'eventful/x': { handle } } })).not.toThrow()
  })
})

test('the header "Mcp-Method" is required, and "Mcp-Name" is ignored [E-EVT-015]', async () => {
  const { http } = fixture()
  const poll = (headers: Record<string, string | undefined>) =>
    http.call('events/poll', { name: 'invoice.created' }, { headers })
  for (const name of [undefined, 'invoice.created', 'something.else']) {
    expect((await poll({ 'mcp-name': name })).result).toBeDefined()
  }
  expect((await poll({ 'mcp-method': undefined })).error?.code).toBe(-32020)
})

test('events and tools are served at one endpoint with the same authentication [E-EVT-300]', async () => {
  const { server } = fixture()
  const peer = await duplexPeer(server, { principal: 'alice' })
  expect((await peer.result('tools/list')).tools).toHaveLength(1)
  expect((await peer.result('events/list')).events).toHaveLength(1)
  await peer.close()
})

test('options that are unknown or cannot work are rejected', () => {
  expect(() => events({ heartbeat: 1 } as EventsOptions)).toThrow('has no option "heartbeat"')
  for (const options of [{ heartbeatMs: 0 }, { heartbeatMs: NaN }, { maxStreams: -1 }]) {
    expect(() => streams(options)).toThrow(RangeError)
  }
  expect(() => streams({ heartbeat: 1 } as StreamOptions)).toThrow('has no option "heartbeat"')
  const { type } = fixture()
  expect(() => type('old', { history: { maxAge: 60 } as object })).toThrow(
    '"history" of "old" has no option "maxAge"; it has maxAgeMs, maxEvents',
  )
  for (const history of [{ maxEvents: NaN }, { maxAgeMs: -1 }, { maxAgeMs: Infinity }]) {
    expect(() => type('old', { history })).toThrow('are whole numbers above 0')
  }
  expect(() => type('slow', { pollMs: 0.5 })).toThrow('are whole numbers above 0')
})
