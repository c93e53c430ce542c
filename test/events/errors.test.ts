import { describe, expect, test } from 'vitest'
import { authenticate, createHandler } from '../../src/presets/server.ts'
import type { EventErrorCodes } from '../../src/events/errors.ts'
import { events } from '../../src/events/events.ts'
import type { EventsOptions } from '../../src/events/options.ts'
import type { JsonObject } from '../../src/index.ts'
import { DECLARES, fixture, httpPeer, type RequestOptions } from './fixture.ts'

const name = 'invoice.created'

/** The errors of a server, by their kind. */
async function errorsOf(errorCodes: EventErrorCodes | undefined, options: RequestOptions = {}) {
  const made = fixture({
    ...(errorCodes && { errorCodes }),
    streamLimits: { maxStreams: 1 },
    invoices: { authorize: ({ arguments: { customer } }) => customer !== 'forbidden' },
  })
  made.type('polled', { delivery: ['poll'] })
  const stream = made.http.open('events/stream', { name }, options)
  await stream.received('active')
  const failure = async (method: string, params: JsonObject) => {
    const { error, status } = await made.http.call(method, params, options)
    return { ...error, status }
  }
  const found = {
    NotFound: await failure('events/poll', { name: 'nope' }),
    Forbidden: await failure('events/poll', { name, arguments: { customer: 'forbidden' } }),
    ResourceExhausted: await failure('events/stream', { name }),
    Unsupported: await failure('events/stream', { name: 'polled' }),
    InvalidParams: await failure('events/poll', { name, arguments: { customer: 1 } }),
  }
  stream.cancel()
  return found
}

const codesOf = (errors: Awaited<ReturnType<typeof errorsOf>>) =>
  Object.fromEntries(Object.entries(errors).map(([kind, { code }]) => [kind, code]))

const SKETCH = {
  NotFound: -32011,
  Forbidden: -32012,
  ResourceExhausted: -32013,
  Unsupported: -32014,
}
const SEP = { NotFound: -32023, Forbidden: -32024, ResourceExhausted: -32025, Unsupported: -32026 }
const OWN = { NotFound: 1, Forbidden: 2, ResourceExhausted: 3, Unsupported: 4 }
const InvalidParams = -32602

describe('the codes of errors', () => {
  test('are those of the set that was chosen [E-EVT-289] [E-EVT-288]', async () => {
    expect(codesOf(await errorsOf('sketch', { capabilities: DECLARES }))).toEqual({
      ...SKETCH,
      InvalidParams,
    })
    expect(codesOf(await errorsOf('sep-3415'))).toEqual({ ...SEP, InvalidParams })
    const own = { ...OWN, CallbackEndpointError: 5 }
    expect(codesOf(await errorsOf(own))).toEqual({ ...OWN, InvalidParams })
  })

  test('are by default those that the client knows [E-EVT-289]', async () => {
    expect(codesOf(await errorsOf(undefined))).toEqual({ ...SKETCH, InvalidParams })
    expect(codesOf(await errorsOf(undefined, { capabilities: DECLARES }))).toEqual({
      ...SEP,
      InvalidParams,
    })
  })

  test.each([{ errorCodes: 'sep-3416' }, { errorCodes: OWN }, { profile: 'ChatGPT' }])(
    'and a profile that do not exist are refused when the events are created: %j',
    (unknown) => {
      const create = () => events(unknown as unknown as EventsOptions)
      expect(create).toThrow(/^"(?:errorCodes|profile)" must be /)
    },
  )
})

test('errors have the data that the extension defines [E-EVT-293] [E-EVT-296] [E-EVT-297] [E-EVT-295]', async () => {
  const errors = await errorsOf('sketch')
  expect(errors.NotFound.data).toEqual({ kind: 'event' })
  expect(errors.ResourceExhausted.data).toEqual({ limit: 'subscriptions', max: 1 })
  expect(errors.Unsupported.data).toEqual({ feature: 'deliveryMode', value: 'push' })
  expect(errors.Forbidden.data).toEqual({})
})

test('unknown types are not found in each mode [E-EVT-293]', async () => {
  const { http } = fixture()
  for (const method of ['events/poll', 'events/stream', 'events/subscribe']) {
    const { error } = await http.call(method, { name: 'nope' })
    expect(error).toMatchObject({ code: -32011, data: { kind: 'event' } })
  }
})

test('a type that the caller may not see fails like one that does not exist [E-EVT-294]', async () => {
  const { http, type } = fixture()
  type('secret', { visible: ({ principal }) => principal === 'admin' })
  for (const method of ['events/poll', 'events/stream', 'events/subscribe']) {
    const hidden = (await http.call(method, { name: 'secret' })).error
    const missing = (await http.call(method, { name: 'absent' })).error
    expect(JSON.parse(JSON.stringify(hidden).replaceAll('secret', 'absent'))).toEqual(missing)
  }
})

test('the author’s reason for a refusal is not sent [E-EVT-295] [E-EVT-081]', async () => {
  const { http, errors } = fixture({
    invoices: {
      authorize: () => {
        throw new Error('The database at 10.0.0.7 is down')
      },
    },
  })
  const { error } = await http.call('events/poll', { name })
  expect(error).toEqual({ code: -32603, message: 'Internal error' })
  expect(String(errors[0])).toContain('10.0.0.7')
})

test('errors have the status 200 over HTTP, except those of authentication [E-EVT-299]', async () => {
  for (const { status } of Object.values(await errorsOf('sketch'))) expect(status).toBe(200)
  const { server } = fixture()
  const guarded = createHandler(server, {
    auth: authenticate((request) => {
      const principal = request.headers.get('x-key')
      return principal === null ? new Response('{}', { status: 401 }) : { principal }
    }),
  })
  const anonymous = await httpPeer(guarded).call('events/poll', { name: 'nope' })
  expect(anonymous.status).toBe(401)
  const known = httpPeer(guarded, { headers: { 'x-key': 'alice' } })
  expect((await known.call('events/poll', { name: 'nope' })).status).toBe(200)
})
