import { describe, expect, it } from 'vitest'
import type { SendNotification } from '../../src/server/features/extensions.ts'
import type { ServerExtensionOptions } from '../../src/server/composition/server-extension.ts'
import type { JsonObject, ObjectSchema } from '../../src/index.ts'
import {
  createHandler,
  createServer,
  ProtocolError,
  text,
  type Context,
  type Server,
  serverExtension,
} from '../../src/presets/server.ts'
import { until } from '../client/peers.ts'
import {
  allMessages,
  lastMessage,
  modernHeaders,
  modernRequest,
  openSession,
  post,
  postModern,
} from '../transport/streamable-http/post.ts'
import { openWire } from './wire.ts'

const ID = 'com.example/jobs'
const DECLARED = { extensions: { [ID]: { depth: 2 } } }

/** A server with an extension that uses every hook, and the subscribers of its jobs. */
function extended(more: Partial<ServerExtensionOptions> = {}): {
  server: Server
  subscribers: Set<SendNotification>
} {
  const subscribers = new Set<SendNotification>()
  const server = createServer({ name: 'extended', version: '1' })
  server.tool('plain', {}, () => text('plain'))
  server.tool('job', {}, () => ({ resultType: 'job', jobId: 'j1' }))
  server.extend(
    serverExtension({
      id: ID,
      settings: { limit: 5 },
      methods: {
        'jobs/get': {
          nameParam: 'jobId',
          handle: ({ jobId }, ctx) => {
            if (jobId === 'none') throw new ProtocolError(-32602, 'Unknown job')
            return { jobId, settings: ctx.extension(ID) }
          },
        },
      },
      resultTypes: ['job'],
      filters: {
        jobIds: {
          accept: (wanted) =>
            Array.isArray(wanted) ? wanted.filter((id) => id !== 'foreign') : undefined,
          subscribe(accepted, notify) {
            // Notified before the acknowledgement can be sent.
            notify('notifications/jobs', { jobId: String(accepted), early: true })
            subscribers.add(notify)
            return () => subscribers.delete(notify)
          },
        },
      },
      ...more,
    }),
  )
  return { server, subscribers }
}

function getJob(
  server: Server,
  capabilities: JsonObject,
  headers: Record<string, string> = { 'mcp-name': 'j1' },
): Promise<Response> {
  return post(createHandler(server), modernRequest('jobs/get', { jobId: 'j1' }, capabilities), {
    ...modernHeaders('jobs/get'),
    ...headers,
  })
}

describe('extend', () => {
  it.each(['tasks', '/x', 'com..example/x', '1com/x', 'com.example/', 'com.example/-x', ''])(
    'rejects the id "%s" [M-VER-015]',
    (id) => {
      const server = createServer({ name: 's', version: '1' })
      expect(() => server.extend(serverExtension({ id }))).toThrow(TypeError)
    },
  )

  it.each(['com.example/x', 'io.modelcontextprotocol/ui', 'vendor/a.b_c-1'])(
    'accepts the id "%s" once [M-VER-015]',
    (id) => {
      const server = createServer({ name: 's', version: '1' })
      server.extend(serverExtension({ id }))
      expect(() => server.extend(serverExtension({ id }))).toThrow(
        `The extension "${id}" exists already`,
      )
    },
  )

  it('rejects settings that are not an object [M-VER-016]', () => {
    const server = createServer({ name: 's', version: '1' })
    // As a program without types may give it.
    const settings = JSON.parse('true') as JsonObject
    expect(() => server.extend(serverExtension({ id: ID, settings }))).toThrow('must be an object')
  })

  it('rejects methods that already exist', () => {
    const { server } = extended()
    const methods = { handle: () => ({}) }
    for (const name of ['tools/call', 'initialize', 'jobs/get']) {
      const extension = { id: 'com.example/other', methods: { [name]: methods } }
      expect(() => server.extend(serverExtension(extension))).toThrow(
        `The method "${name}" exists already`,
      )
    }
  })

  it.each(['tasks/list', 'skills/find', 'resources/directory/read'])(
    'leaves "%s" to the extension that reserves it',
    (name) => {
      const server = createServer({ name: 's', version: '1' })
      const methods = { [name]: { handle: () => ({}) } }
      expect(() => server.extend(serverExtension({ id: ID, methods }))).toThrow('is reserved for')
    },
  )

  it('lets the extension register what belongs to it', async () => {
    const { server } = extended({
      attach(target) {
        target.use('tools/call', async (_request, ctx, next) => {
          const result = await next()
          return ctx.extension(ID) ? { ...result, extended: true } : result
        })
      },
    })
    const handle = createHandler(server)
    const plain = await lastMessage(await postModern(handle, 'tools/call', { name: 'plain' }))
    expect(plain.result).not.toHaveProperty('extended')
    const call = postModern(handle, 'tools/call', { name: 'plain' }, DECLARED)
    expect((await lastMessage(await call)).result).toHaveProperty('extended', true)
  })
})

describe('the capabilities of a server', () => {
  it('name no extension by default [M-VER-018]', async () => {
    const server = createServer({ name: 's', version: '1' })
    const answer = await lastMessage(await postModern(createHandler(server), 'server/discover'))
    expect(answer.result.capabilities).not.toHaveProperty('extensions')
    expect((await openWire(server)).welcome.capabilities).not.toHaveProperty('extensions')
  })

  it('name extensions with their settings, in addition to what the author declares [M-DISC-018] [M-VER-016]', async () => {
    const capabilities = { extensions: { 'com.example/own': { a: 1 } } }
    const server = createServer({ name: 's', version: '1' }, { capabilities })
    server.extend(serverExtension({ id: ID, settings: { limit: 5 } }))
    server.extend(serverExtension({ id: 'com.example/modern', era: 'modern' }))
    server.extend(serverExtension({ id: 'com.example/legacy', era: 'legacy' }))
    const answer = await lastMessage(await postModern(createHandler(server), 'server/discover'))
    const both = { 'com.example/own': { a: 1 }, [ID]: { limit: 5 } }
    expect(answer.result.capabilities).toMatchObject({ extensions: both })
    expect((answer.result.capabilities as JsonObject).extensions).toEqual({
      ...both,
      'com.example/modern': {},
    })
    const { welcome } = await openWire(server)
    expect((welcome.capabilities as JsonObject).extensions).toEqual({
      ...both,
      'com.example/legacy': {},
    })
  })
})

describe('a method of an extension', () => {
  it('is answered when the client declares the extension, with its settings', async () => {
    const { server } = extended()
    const response = await getJob(server, DECLARED)
    expect(response.status).toBe(200)
    expect((await lastMessage(response)).result).toMatchObject({
      resultType: 'complete',
      jobId: 'j1',
      settings: { depth: 2 },
    })
  })

  it.each([[{}], [{ extensions: {} }], [{ extensions: { [ID]: true } }], [{ extensions: null }]])(
    'is refused by -32021 and 400 when the request declares %j [M-VER-017] [M-VER-016]',
    async (capabilities) => {
      const { server } = extended()
      const response = await getJob(server, capabilities)
      expect(response.status).toBe(400)
      const { error } = await lastMessage(response)
      expect(error.code).toBe(-32021)
      expect(error.data).toEqual({ requiredCapabilities: { extensions: { [ID]: {} } } })
    },
  )

  it('is judged by each request alone, over HTTP and on one connection [M-VER-021]', async () => {
    const { server } = extended()
    const handle = createHandler(server)
    const ask = (capabilities: JsonObject): Promise<Response> =>
      post(handle, modernRequest('jobs/get', { jobId: 'j1' }, capabilities), {
        ...modernHeaders('jobs/get', 'j1'),
      })
    expect((await ask(DECLARED)).status).toBe(200)
    expect((await ask({})).status).toBe(400)
    const wire = await openWire(server)
    const { params } = modernRequest('jobs/get', { jobId: 'j1' }, DECLARED)
    expect(await wire.result('jobs/get', params)).toMatchObject({ jobId: 'j1' })
    const undeclared = modernRequest('jobs/get', { jobId: 'j1' }).params
    expect(await wire.code('jobs/get', undeclared)).toBe(-32021)
    await wire.close()
  })

  it('needs no declaration where the extension is one-sided', async () => {
    const { server } = extended({ serverOnly: true })
    expect((await getJob(server, {})).status).toBe(200)
  })

  it('is unknown to servers without the extension, 404 [M-VER-017]', async () => {
    const response = await getJob(createServer({ name: 's', version: '1' }), DECLARED)
    expect(response.status).toBe(404)
    expect((await lastMessage(response)).error.code).toBe(-32601)
  })

  it('has its name in the headers [M-HDR-077]', async () => {
    const { server } = extended()
    for (const headers of [{ 'mcp-name': 'j2' }, {}]) {
      const response = await getJob(server, DECLARED, headers)
      expect(response.status).toBe(400)
      expect((await lastMessage(response)).error.code).toBe(-32020)
    }
  })

  it('fails as its handler says, and as an internal error otherwise', async () => {
    const failures: unknown[] = []
    const server = createServer(
      { name: 's', version: '1' },
      { onError: (error) => failures.push(error) },
    )
    server.extend(
      serverExtension({
        id: ID,
        methods: {
          'jobs/get': {
            handle() {
              throw new Error('secret')
            },
          },
        },
      }),
    )
    const { error } = await lastMessage(await getJob(server, DECLARED))
    expect(error).toEqual({ code: -32603, message: 'Internal error' })
    expect(failures).toHaveLength(1)
    const none = await post(
      createHandler(extended().server),
      modernRequest('jobs/get', { jobId: 'none' }, DECLARED),
      modernHeaders('jobs/get', 'none'),
    )
    expect((await lastMessage(none)).error).toEqual({ code: -32602, message: 'Unknown job' })
  })

  it('is answered on sessions whose client declared the extension', async () => {
    const { server } = extended()
    const declared = await openWire(server, '2025-11-25', DECLARED)
    expect(await declared.result('jobs/get', { jobId: 'j1' })).toEqual({
      jobId: 'j1',
      settings: { depth: 2 },
    })
    const undeclared = await openWire(server)
    expect(await undeclared.code('jobs/get', { jobId: 'j1' })).toBe(-32601)
  })

  it('is unknown in an era that the extension leaves out', async () => {
    const modern = extended({ era: 'modern' })
    const wire = await openWire(modern.server, '2025-11-25', DECLARED)
    expect(await wire.code('jobs/get', { jobId: 'j1' })).toBe(-32601)
    const { send } = await openSession(createHandler(modern.server), '2025-11-25', DECLARED)
    const answer = await send({ jsonrpc: '2.0', id: 1, method: 'jobs/get', params: {} })
    expect((await lastMessage(answer)).error.code).toBe(-32601)
    const legacy = extended({ era: 'legacy' })
    expect((await getJob(legacy.server, DECLARED)).status).toBe(404)
  })
})

describe("a question of an extension's method", () => {
  function asking(ran: string[]): { server: Server; errors: unknown[] } {
    const errors: unknown[] = []
    const onError = (error: unknown) => errors.push(error)
    const server = createServer({ name: 's', version: '1' }, { onError })
    const ask = async (_params: JsonObject, ctx: Context) => {
      ran.push(ctx.revision)
      const schema: ObjectSchema = { type: 'object', properties: {} }
      const { action } = await ctx.elicit({ message: 'Sure?', schema })
      return { action }
    }
    server.extend(serverExtension({ id: ID, methods: { 'jobs/ask': { handle: ask } } }))
    return { server, errors }
  }

  it('is an error at once in 2026-07-28, which says what can ask [M-MRTR-003]', async () => {
    const ran: string[] = []
    const { server, errors } = asking(ran)
    const params = { inputResponses: {}, requestState: undefined }
    const capabilities = { ...DECLARED, elicitation: {} }
    const response = await postModern(createHandler(server), 'jobs/ask', params, capabilities)
    const message =
      '"jobs/ask" cannot ask the client: in revision 2026-07-28 that needs "tools/call", "prompts/get" or "resources/read"'
    expect((await lastMessage(response)).error).toEqual({ code: -32603, message })
    expect(ran).toHaveLength(1)
    expect(errors).toMatchObject([{ code: 'UNSUPPORTED', message }])
  })

  it('reaches the client of a session', async () => {
    const { server, errors } = asking([])
    const capabilities = { ...DECLARED, elicitation: {} }
    const wire = await openWire(server, '2025-11-25', capabilities)
    wire.onRequest(() => ({ action: 'decline' }))
    expect(await wire.result('jobs/ask')).toEqual({ action: 'decline' })
    expect(errors).toEqual([])
    await wire.close()
  })
})

describe('a result of a type that an extension adds', () => {
  it('reaches clients that declare the extension [M-BASE-014]', async () => {
    const handle = createHandler(extended().server)
    const call = await postModern(handle, 'tools/call', { name: 'job' }, DECLARED)
    const { result } = await lastMessage(call)
    expect(result).toMatchObject({ resultType: 'job', jobId: 'j1' })
    expect(result).not.toHaveProperty('content')
  })

  it('reaches no other client [M-BASE-013] [M-VER-021]', async () => {
    const { server } = extended()
    const handle = createHandler(server)
    const call = await postModern(handle, 'tools/call', { name: 'job' })
    expect((await lastMessage(call)).error.code).toBe(-32603)
    const session = await openWire(createServer({ name: 's', version: '1' }), '2025-11-25')
    expect(await session.code('tools/call', { name: 'job' })).toBe(-32601)
  })

  it('must be a type that the extension names [M-BASE-013]', async () => {
    const handle = createHandler(extended({ resultTypes: ['other'] }).server)
    const call = await postModern(handle, 'tools/call', { name: 'job' }, DECLARED)
    expect((await lastMessage(call)).error.code).toBe(-32603)
  })
})

describe('a member of the listen filter that an extension adds', () => {
  it('is acknowledged as far as it is honoured, and lets its notifications through [M-SUB-051] [M-SUB-006] [M-SUB-014]', async () => {
    const { server, subscribers } = extended()
    const handle = createHandler(server)
    const response = await postModern(
      handle,
      'subscriptions/listen',
      { notifications: { jobIds: ['a', 'foreign'], toolsListChanged: true } },
      DECLARED,
    )
    await until(() => subscribers.size === 1)
    for (const notify of subscribers) notify('notifications/jobs', { jobId: 'a', done: true })
    await handle.close()
    const messages = await allMessages(response)
    const _meta = { 'io.modelcontextprotocol/subscriptionId': 1 }
    expect(messages.slice(0, 3)).toEqual([
      {
        jsonrpc: '2.0',
        method: 'notifications/subscriptions/acknowledged',
        params: { notifications: { jobIds: ['a'], toolsListChanged: true }, _meta },
      },
      { jsonrpc: '2.0', method: 'notifications/jobs', params: { jobId: 'a', early: true, _meta } },
      { jsonrpc: '2.0', method: 'notifications/jobs', params: { jobId: 'a', done: true, _meta } },
    ])
    expect(subscribers.size).toBe(0)
  })

  it('is refused by -32021 to clients that do not declare the extension', async () => {
    const response = await postModern(createHandler(extended().server), 'subscriptions/listen', {
      notifications: { jobIds: ['a'] },
    })
    expect(response.status).toBe(400)
    expect((await lastMessage(response)).error.code).toBe(-32021)
  })

  it('is ignored when no extension has it, and when its value is not honoured [M-SUB-050]', async () => {
    const handle = createHandler(extended().server)
    const response = await postModern(
      handle,
      'subscriptions/listen',
      { notifications: { jobIds: 'all', foo: true } },
      DECLARED,
    )
    await handle.close()
    const [acknowledged] = await allMessages(response)
    expect(acknowledged).toHaveProperty('params.notifications', {})
  })
})

describe('an unknown extension', () => {
  it('in the capabilities of a client changes nothing [M-VER-020]', async () => {
    const handle = createHandler(extended().server)
    const capabilities = { extensions: { 'com.x/y': { z: 1 }, nonsense: {} } }
    const call = await postModern(handle, 'tools/call', { name: 'plain' }, capabilities)
    expect((await lastMessage(call)).result).toHaveProperty('content.0.text', 'plain')
  })
})
