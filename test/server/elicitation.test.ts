import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import {
  revisions,
  type ElicitParams,
  type ObjectSchema,
  type Revision,
  type StandardSchema,
} from '../../src/index.ts'
import {
  createServer,
  text,
  UrlElicitationRequired,
  type ElicitFormOptions,
} from '../../src/presets/server.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import type { ConnectOptions } from '../../src/presets/client.ts'
import { closing } from '../closing.ts'

const VERSIONS = revisions.map(({ version }) => version)
const ASKING = VERSIONS.filter((version) => version >= '2025-06-18')
const URLS = VERSIONS.filter((version) => version >= '2025-11-25')
const URL = 'https://pay.example/42'

function makeServer() {
  const server = createServer({ name: 's', version: '1' })
  const ids: (string | undefined)[] = []
  server.tool('pay', {}, async (_args, ctx) => {
    const answer = await ctx.elicitUrl({ message: 'Pay first', url: URL })
    ids.push(answer.elicitationId)
    return text(answer.action)
  })
  let visited = false
  server.tool('gated', {}, () => {
    if (visited) return text('welcome')
    visited = true
    throw new UrlElicitationRequired([
      { mode: 'url', elicitationId: 'e-1', message: 'Sign up first', url: URL },
    ])
  })
  server.tool('own', {}, (_args, ctx) => {
    if (ctx.requestState === 'asked') return text(JSON.stringify(ctx.inputResponses))
    const requestedSchema = { type: 'object', properties: { who: { type: 'string' } } }
    return {
      resultType: 'input_required',
      inputRequests: {
        who: { method: 'elicitation/create', params: { message: 'Who?', requestedSchema } },
      },
      requestState: 'asked',
    }
  })
  server.tool('endless', {}, () => ({ resultType: 'input_required', requestState: 'again' }))
  for (const [name, schema] of Object.entries({
    nested: z.object({ a: z.object({ b: z.string() }) }),
    list: z.object({ a: z.array(z.object({})) }),
    secret: z.object({ password: z.string() }),
  })) {
    server.tool(name, {}, async (_args, ctx) => {
      const error = await ctx.elicit({ message: 'x', schema }).catch((e: unknown) => e)
      return text(String(error))
    })
  }
  return { server, ids }
}

async function connected(revision: Revision, options: ConnectOptions = {}) {
  const made = makeServer()
  const client = closing(await connectInMemory(made.server, { revision, ...options }))
  return { ...made, client }
}

describe.each(URLS)('URLs in %s', (revision) => {
  it('are shown whole; agreeing is all that comes back [L-ELIC-021] [L-ELIC-022]', async () => {
    const asked: ElicitParams[] = []
    const { client, ids } = await connected(revision, {
      capabilities: { elicitation: { form: {}, url: {} } },
      onElicit: (params) => {
        asked.push(params)
        return { action: 'accept' }
      },
    })
    expect(await client.callTool('pay')).toMatchObject({ content: [{ text: 'accept' }] })
    await client.callTool('pay')
    expect(asked[0]).toMatchObject({ mode: 'url', message: 'Pay first', url: URL })
    const wire = asked.map((params) =>
      'elicitationId' in params ? params.elicitationId : undefined,
    )
    expect(wire).toEqual(ids)
    expect(new Set(ids).size).toBe(revision === '2025-11-25' ? 2 : 1)
  })

  it('are not asked of clients that show forms only [L-ELIC-003] [M-MRTR-012]', async () => {
    const { client } = await connected(revision, { onElicit: () => ({ action: 'accept' }) })
    const outcome = await client.callTool('pay').catch((error: unknown) => error)
    if (revision === '2025-11-25') expect(outcome).toMatchObject({ isError: true })
    else {
      expect(outcome).toMatchObject({
        code: -32021,
        data: { requiredCapabilities: { elicitation: { url: {} } } },
      })
    }
  })
})

describe.each(URLS)('URLs that would carry credentials, in %s', (revision) => {
  it.each([
    'https://ada:hunter2@pay.example/',
    'https://ada@pay.example/',
    'https://pay.example/?password=hunter2',
    'https://pay.example/?a=1&access_token=hunter2',
    'https://pay.example/?API-KEY=hunter2',
  ])('are refused, however they are requested: %s [L-ELIC-040] [L-ELIC-041]', async (url) => {
    const errors: unknown[] = []
    const server = createServer(
      { name: 's', version: '1' },
      { onError: (error) => errors.push(error) },
    )
    const request = { method: 'elicitation/create', params: { mode: 'url', message: 'Pay', url } }
    server.tool('ask', {}, async (_args, ctx) => {
      return (await ctx.elicitUrl({ message: 'Pay', url })).action
    })
    server.tool('own', {}, () => {
      return { resultType: 'input_required', inputRequests: { pay: request } }
    })
    server.tool('error', {}, () => {
      const page = { mode: 'url', elicitationId: 'e', message: 'Pay', url } as const
      throw new UrlElicitationRequired([page])
    })
    const asked: unknown[] = []
    const client = await connectInMemory(server, {
      revision,
      capabilities: { elicitation: { form: {}, url: {} } },
      onElicit: (params) => {
        asked.push(params)
        return { action: 'accept' }
      },
    })
    closing(client)
    for (const name of ['ask', 'own', 'error']) {
      const outcome = await client.callTool(name).catch((error: unknown) => error)
      expect(JSON.stringify(outcome)).not.toContain('hunter2')
    }
    expect(asked).toEqual([])
    expect(errors.map(String).join()).toMatch(/carry credentials.*carry credentials.*carry/s)
  })
})

describe('the completion of a URL elicitation', () => {
  it('is notified once, to the client that got the elicitation, by its id [L-ELIC-024] [L-ELIC-025]', async () => {
    const { server, ids } = makeServer()
    const received: unknown[][] = [[], []]
    const clients = await Promise.all(
      received.map((notifications) =>
        connectInMemory(server, {
          revision: '2025-11-25',
          capabilities: { elicitation: { form: {}, url: {} } },
          onElicit: () => ({ action: 'accept' }),
          onNotification: (notification) => notifications.push(notification),
        }),
      ),
    )
    clients.forEach(closing)
    await clients[0]?.callTool('pay')
    for (let n = 0; n < 2; n++) server.notify.elicitationComplete(ids[0] ?? '')
    server.notify.elicitationComplete('unknown')
    await Promise.all(clients.map((client) => client.ping()))
    expect(received).toEqual([
      [
        {
          jsonrpc: '2.0',
          method: 'notifications/elicitation/complete',
          params: { elicitationId: ids[0] },
        },
      ],
      [],
    ])
  })
})

describe('a page that must be visited first', () => {
  it('is an error that names it in 2025-11-25 [L-ELIC-030]', async () => {
    const { client } = await connected('2025-11-25', {
      capabilities: { elicitation: { url: {} } },
      onElicit: () => ({ action: 'accept' }),
    })
    await expect(client.callTool('gated')).rejects.toMatchObject({
      code: -32042,
      data: { elicitations: [{ mode: 'url', elicitationId: 'e-1', url: URL }] },
    })
    expect(await client.callTool('gated')).toMatchObject({ content: [{ text: 'welcome' }] })
  })

  it('is a round of input in 2026-07-28 [M-BASE-036]', async () => {
    const { client } = await connected('2026-07-28', {
      capabilities: { elicitation: { url: {} } },
      onElicit: () => ({ action: 'accept' }),
    })
    expect(await client.callTool('gated')).toMatchObject({ content: [{ text: 'welcome' }] })
  })

  it.each(VERSIONS)(
    'is a plain failure for clients that open none, in %s [L-ELIC-031]',
    async (revision) => {
      const { client } = await connected(revision)
      const error = await client.callTool('gated').catch((e: unknown) => e)
      expect(error).toMatchObject({ code: revision === '2026-07-28' ? -32021 : -32603 })
    },
  )
})

describe.each(ASKING)('a handler that makes its round of input itself, in %s', (revision) => {
  it('gets the answers in its next run', async () => {
    const { client } = await connected(revision, {
      onElicit: () => ({ action: 'accept', content: { who: 'Ada' } }),
    })
    const { content } = await client.callTool('own')
    expect(content).toMatchObject([
      { text: JSON.stringify({ who: { action: 'accept', content: { who: 'Ada' } } }) },
    ])
  })

  it('is stopped when it never comes to an end [M-MRTR-057]', async () => {
    const { client } = await connected(revision, {
      maxRounds: 2,
      onElicit: () => ({ action: 'accept' }),
    })
    await expect(client.callTool('endless')).rejects.toThrow(
      /reached "maxRounds" \(2\)|asked for input more than 10 times/,
    )
  })
})

describe('a form', () => {
  it('with nested fields does not compile, and every other does [L-ELIC-008]', () => {
    const flat = z.object({
      text: z.email().nullable(),
      number: z.coerce.number().default(1),
      yes: z.boolean().optional(),
      one: z.union([z.literal('a'), z.enum(['b', 'c'])]),
      several: z.array(z.enum(['a', 'b'])).optional(),
      trimmed: z.string().transform((given) => ({ given })),
      unknown: z.any(),
    })
    const nested = z.object({ text: z.string(), place: z.object({ city: z.string() }).optional() })
    const list = z.object({ text: z.string(), places: z.array(z.object({})) })
    type IsTaken<S extends StandardSchema | ObjectSchema> = S extends ElicitFormOptions<S>['schema']
      ? true
      : false
    // The compiler is what checks these
    const taken: [
      IsTaken<typeof flat>,
      IsTaken<typeof nested>,
      IsTaken<typeof list>,
      IsTaken<StandardSchema>,
      IsTaken<ObjectSchema>,
    ] = [true, false, false, true, true]
    expect(taken).toHaveLength(5)
  })

  it('is flat, and never requests secrets [L-ELIC-008] [L-ELIC-016] [L-ELIC-017]', async () => {
    const { client } = await connected('2025-11-25', { onElicit: () => ({ action: 'cancel' }) })
    expect(await client.callTool('nested')).toMatchObject({ content: [{ text: /A form is flat/ }] })
    expect(await client.callTool('list')).toMatchObject({ content: [{ text: /A form is flat/ }] })
    expect(await client.callTool('secret')).toMatchObject({ content: [{ text: /"password"/ }] })
  })
})
