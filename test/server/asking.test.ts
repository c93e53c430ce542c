import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import {
  revisions,
  UrlElicitationRequired,
  type CreateMessageParams,
  type JsonObject,
} from '../../src/index.ts'
import { createServer, text, type Context } from '../../src/presets/server.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import { until } from '../client/peers.ts'
import { formParams, samplingParams } from '../protocol/rich.ts'
import { openWire, type Wire } from './wire.ts'

const LEGACY = revisions.filter(({ era }) => era === 'legacy').map(({ version }) => version)
const FORMS = LEGACY.filter((revision) => revision >= '2025-06-18')
const info = { name: 's', version: '1' }
const hello: CreateMessageParams = {
  messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }],
  maxTokens: 5,
}
const said = { role: 'assistant', model: 'm', content: { type: 'text', text: 'hello' } }

/** A server with one tool that does what it is given, and says what came of it. */
function asking(ask: (ctx: Context) => Promise<unknown>) {
  const server = createServer(info)
  server.tool('ask', {}, async (_args, ctx) => {
    return JSON.stringify(await ask(ctx).catch((error: unknown) => `failed: ${String(error)}`))
  })
  return server
}

const call = async (wire: Wire): Promise<string> => {
  const { content } = await wire.result('tools/call', { name: 'ask' })
  return (content as { text: string }[])[0]?.text ?? ''
}
const asked = ({ received }: Wire) =>
  received.filter(({ id, method }) => id !== undefined && method !== undefined)

describe.each(LEGACY)('sampling in %s', (revision) => {
  it('is rejected locally if the client does not support it [L-SAMP-002]', async () => {
    const wire = await openWire(
      asking((ctx) => ctx.sample(hello)),
      revision,
      { roots: {} },
    )
    expect(await call(wire)).toContain('does not support \\"sampling/createMessage')
    expect(asked(wire)).toEqual([])
  })

  it('with tools is rejected locally if the client does not support that [L-SAMP-003]', async () => {
    const tool = { name: 'a', inputSchema: { type: 'object' as const } }
    for (const more of [{ tools: [tool] }, { toolChoice: { mode: 'auto' as const } }]) {
      const server = asking((ctx) => ctx.sample({ ...hello, ...more }))
      const wire = await openWire(server, revision, { sampling: { context: {} } })
      expect(await call(wire)).toContain('failed: ')
      expect(asked(wire)).toEqual([])
    }
  })

  it.each<Partial<Record<keyof CreateMessageParams, unknown>>>([
    { maxTokens: undefined },
    { messages: undefined },
    { modelPreferences: { costPriority: 1.5 } },
    { modelPreferences: { speedPriority: -0.1 } },
  ])('with %j is not sent [L-SAMP-015]', async (wrong) => {
    const params = { ...hello, ...wrong } as CreateMessageParams
    const wire = await openWire(
      asking((ctx) => ctx.sample(params)),
      revision,
      { sampling: {} },
    )
    expect(await call(wire)).toContain('failed: ')
    expect(asked(wire)).toEqual([])
  })

  it('accepts any stop reason, and any content [L-SAMP-016] [L-SAMP-017]', async () => {
    const answers = [
      { ...said, stopReason: 'refusedByMoon' },
      { ...said, content: { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' } },
      { ...said, content: [said.content, { type: 'image', data: 'AAAA', mimeType: 'a/b' }] },
    ]
    const wire = await openWire(
      asking((ctx) => ctx.sample(hello)),
      revision,
      { sampling: {} },
    )
    for (const answer of answers) {
      wire.onRequest(() => answer)
      expect(JSON.parse(await call(wire))).toEqual(answer)
    }
    const noModel = { role: 'assistant', content: said.content }
    wire.onRequest(() => noModel)
    expect(await call(wire)).toContain('failed: ')
  })

  it('sends content that the client knows, one block each before 2025-11-25 [L-SAMP-017]', async () => {
    const rich = samplingParams as unknown as CreateMessageParams
    const { tools: _, toolChoice: __, ...plain } = rich
    const wire = await openWire(
      asking((ctx) => ctx.sample(plain)),
      revision,
      { sampling: {} },
    )
    wire.onRequest(() => said)
    await call(wire)
    const messages = asked(wire)[0]?.params?.messages as { content: JsonObject | JsonObject[] }[]
    const types = messages
      .flatMap(({ content }) => (Array.isArray(content) ? content : [content]))
      .map(({ type }) => type)
    expect(messages.some(({ content }) => Array.isArray(content))).toBe(revision >= '2025-11-25')
    expect(types.includes('tool_use')).toBe(revision >= '2025-11-25')
    expect(types.includes('audio')).toBe(revision >= '2025-03-26')
    expect(types).toContain('image')
  })
})

describe.each(LEGACY)('roots in %s', (revision) => {
  it('are returned to each server separately, as they are at the time [L-ROOT-005] [L-ROOT-007]', async () => {
    const server = asking((ctx) => ctx.roots())
    const all = [{ uri: 'file:///a' }, { uri: 'file:///b' }]
    const client = await connectInMemory(server, {
      revision,
      capabilities: { roots: { listChanged: true } },
      roots: ({ server: { info: who } }) => (who?.name === 's' ? all : []),
    })
    const roots = async (): Promise<unknown> =>
      JSON.parse(((await client.callTool('ask')).content[0] as { text: string }).text)
    expect(await roots()).toEqual(all)
    all.pop()
    await client.rootsChanged()
    expect(await roots()).toEqual([{ uri: 'file:///a' }])
    await client.close()
  })
})

describe.each(FORMS)('forms in %s', (revision) => {
  const schema = formParams.requestedSchema as never
  const form = async (): Promise<JsonObject> => {
    const server = asking((ctx) => ctx.elicit({ message: 'Where to?', schema }))
    const wire = await openWire(server, revision, { elicitation: {} })
    wire.onRequest(() => ({ action: 'decline' }))
    expect(await call(wire)).toBe('{"action":"decline"}')
    return asked(wire)[0]?.params ?? {}
  }

  it('always have a message, and the mode unless the revision has none [L-ELIC-005]', async () => {
    const { message, mode } = await form()
    expect([message, mode]).toEqual(['Where to?', revision >= '2025-11-25' ? 'form' : undefined])
  })

  it('have fields of every kind that the revision has [L-ELIC-009]', async () => {
    const { properties, required } = (await form()).requestedSchema as Record<string, JsonObject>
    expect(required).toEqual(['city'])
    expect(properties).toMatchObject({
      city: { type: 'string', title: 'City', minLength: 1, maxLength: 9 },
      mail: { type: 'string', format: 'email', description: 'Yours' },
      nights: { type: 'integer', minimum: 1, maximum: 9 },
      price: { type: 'number' },
      breakfast: { type: 'boolean', default: true },
      plain: { type: 'string', enum: ['a', 'b'] },
      old: { type: 'string', enum: ['a', 'b'], enumNames: ['A', 'B'] },
    })
  })

  it('come back as they were filled in, each kind of field [L-ELIC-009] [L-ELIC-010]', async () => {
    const many = revision >= '2025-11-25'
    const filled = {
      city: 'Oslo',
      mail: 'a@b.example',
      nights: 3,
      price: 2.5,
      breakfast: false,
      plain: 'b',
      old: 'b',
      titled: 'l',
      several: many ? ['mo', 'tu'] : 'mo',
      severalTitled: many ? ['tu'] : 'tu',
    }
    const server = asking((ctx) => ctx.elicit({ message: 'Where to?', schema }))
    const wire = await openWire(server, revision, { elicitation: {} })
    wire.onRequest(() => ({ action: 'accept', content: filled }))
    expect(JSON.parse(await call(wire))).toEqual({
      action: 'accept',
      content: { ...filled, several: many ? ['mo', 'tu'] : ['mo'], severalTitled: ['tu'] },
    })
  })
})

describe('forms for a client of 2025-06-18', () => {
  it('contain nothing that the revision lacks [L-ELIC-007]', async () => {
    const server = asking((ctx) =>
      ctx.elicit({ message: 'Where to?', schema: formParams.requestedSchema as never }),
    )
    const wire = await openWire(server, '2025-06-18', { elicitation: {} })
    wire.onRequest(() => ({ action: 'cancel' }))
    await call(wire)
    const params = asked(wire)[0]?.params ?? {}
    expect(Object.keys(params).toSorted()).toEqual(['message', 'requestedSchema'])
    const { $schema, properties } = params.requestedSchema as JsonObject
    expect($schema).toBeUndefined()
    const fields = Object.values(properties as Record<string, JsonObject>)
    expect(fields.filter(({ type }) => type === 'array')).toEqual([])
    for (const newer of ['oneOf', 'anyOf', 'items', 'minItems', 'maxItems']) {
      expect(fields.filter((field) => newer in field)).toEqual([])
    }
    const withDefault = fields.filter((field) => 'default' in field).map(({ type }) => type)
    expect(withDefault).toEqual(['boolean'])
    expect((properties as Record<string, JsonObject>).titled).toEqual({
      type: 'string',
      title: 'Size',
      enum: ['s', 'l'],
      enumNames: ['Small', 'Large'],
    })
  })
})

describe('forms for a client of 2025-11-25', () => {
  it('keep defaults, titled options and several choices [L-ELIC-010]', async () => {
    const schema = formParams.requestedSchema as never
    const server = asking((ctx) => ctx.elicit({ message: 'Where to?', schema }))
    const wire = await openWire(server, '2025-11-25', { elicitation: { form: {} } })
    wire.onRequest(() => ({ action: 'cancel' }))
    await call(wire)
    expect(asked(wire)[0]?.params?.requestedSchema).toEqual(formParams.requestedSchema)
  })

  it('are made of zod schemas too [L-ELIC-010]', async () => {
    const schema = z.object({
      size: z.enum(['s', 'l']).default('s'),
      days: z
        .array(z.enum(['mo', 'tu']))
        .min(1)
        .max(2),
      code: z.string().regex(/^\d+$/),
    })
    const server = asking((ctx) => ctx.elicit({ message: 'Which?', schema }))
    const wire = await openWire(server, '2025-11-25', { elicitation: { form: {} } })
    wire.onRequest(() => ({ action: 'accept', content: { days: ['tu'], code: '12' } }))
    expect(JSON.parse(await call(wire))).toEqual({
      action: 'accept',
      content: { size: 's', days: ['tu'], code: '12' },
    })
    expect(asked(wire)[0]?.params?.requestedSchema).toMatchObject({
      properties: {
        size: { type: 'string', enum: ['s', 'l'], default: 's' },
        days: {
          type: 'array',
          items: { type: 'string', enum: ['mo', 'tu'] },
          minItems: 1,
          maxItems: 2,
        },
        code: { type: 'string', pattern: '^\\d+$' },
      },
    })
  })
})

describe.each(LEGACY)('progress in %s', (revision) => {
  const progress = ({ received }: Wire) =>
    received.filter(({ method }) => method === 'notifications/progress')

  it('is sent only to the client that requested it, while the request runs [L-PROG-005] [L-PROG-006]', async () => {
    const server = createServer(info)
    const kept: Context[] = []
    server.tool('work', {}, async (_args, ctx) => {
      kept.push(ctx)
      await ctx.progress(1)
      return text('done')
    })
    const wire = await openWire(server, revision)
    await wire.result('tools/call', { name: 'work' })
    expect(progress(wire)).toEqual([])
    await wire.result('tools/call', { name: 'work', _meta: { progressToken: 't' } })
    for (const ctx of kept) await ctx.progress(2)
    await wire.result('ping')
    expect(progress(wire)).toMatchObject([{ params: { progressToken: 't', progress: 1 } }])
    const order = wire.received.map(({ method, id }) => method ?? id)
    expect(order.indexOf('notifications/progress')).toBeLessThan(order.length - 2)
  })
})

describe.each(LEGACY)('cancellation in %s', (revision) => {
  const waiting = () => {
    const server = createServer(info)
    const stopped: unknown[] = []
    const started: unknown[] = []
    server.tool('wait', {}, async (_args, ctx) => {
      started.push(ctx.id)
      await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
      stopped.push(ctx.id)
      return 'x'
    })
    return { server, started, stopped }
  }
  const method = 'notifications/cancelled'
  const cancel = (requestId: unknown) => ({ jsonrpc: '2.0', method, params: { requestId } })
  const wait = (id: unknown) => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: 'wait' },
  })

  it('is of the request with that id and its type [L-CANC-011]', async () => {
    const { server, started, stopped } = waiting()
    const wire = await openWire(server, revision)
    wire.send(wait(1))
    wire.send(wait('2'))
    await until(() => started.length === 2)
    for (const id of ['1', 2, null, [1], { id: 1 }, undefined, 1.0000001]) wire.send(cancel(id))
    await wire.result('ping')
    expect(stopped).toEqual([])
    wire.send(cancel('2'))
    await until(() => stopped.length === 1)
    expect(stopped).toEqual(['2'])
    await wire.close()
  })
})

describe('cancellation of one request of a batch', () => {
  it('leaves the others running [L-CANC-012]', async () => {
    const server = createServer(info)
    let go: ((value: string) => void) | undefined
    const gone: unknown[] = []
    server.tool('wait', {}, async (_args, ctx) => {
      ctx.signal.addEventListener('abort', () => gone.push(ctx.id))
      return new Promise<string>((resolve) => {
        ctx.signal.addEventListener('abort', () => resolve('gone'))
        if (ctx.id === 2) go = resolve
      })
    })
    const wire = await openWire(server, '2025-03-26')
    const request = (id: number) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'wait' },
    })
    wire.send([request(1), request(2)])
    await until(() => go !== undefined)
    const method = 'notifications/cancelled'
    wire.send({ jsonrpc: '2.0', method, params: { requestId: 1 } })
    await until(() => gone.length > 0)
    go?.('done')
    await until(() => wire.received.some(({ id }) => id === 2))
    expect(gone).toEqual([1])
    expect(wire.received.some(({ id }) => id === 1)).toBe(false)
    expect(wire.received.find(({ id }) => id === 2)?.result).toMatchObject({
      content: [{ text: 'done' }],
    })
  })
})

describe('the error that names pages to visit', () => {
  it('is only sent when there are some [L-ELIC-029]', async () => {
    const server = createServer(info)
    const page = {
      mode: 'url' as const,
      elicitationId: 'e',
      message: 'x',
      url: 'https://a.example/',
    }
    const errors: Record<string, unknown> = {
      some: new UrlElicitationRequired([page]),
      none: new UrlElicitationRequired([]),
      error: new Error('-32042'),
      coded: Object.assign(new Error('x'), { code: -32042, data: { elicitations: [page] } }),
    }
    for (const [name, error] of Object.entries(errors)) {
      server.resource(`a:${name}`, { name }, () => {
        throw error
      })
    }
    const wire = await openWire(server, '2025-11-25', { elicitation: { url: {} } })
    const codes = Object.keys(errors).map((name) =>
      wire.code('resources/read', { uri: `a:${name}` }),
    )
    expect(await Promise.all(codes)).toEqual([-32042, -32603, -32603, -32603])
  })
})

describe.each(LEGACY)('a server and a client of nothing in %s', (revision) => {
  it('shake hands, ping and close [L-RPC-002]', async () => {
    const client = await connectInMemory(createServer(info), { revision })
    expect(client.serverCapabilities).toEqual({})
    await client.ping()
    await expect(client.callTool('a')).rejects.toMatchObject({ code: 'CAPABILITY_MISSING' })
    await client.close()
  })
})
