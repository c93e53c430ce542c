/** Public reports of resources and completion that went wrong, replayed. */
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { isResourceNotFound, ProtocolError } from '../../src/presets/client.ts'
import { ErrorCode, type JsonObject } from '../../src/index.ts'
import { createServer, type Handler, uriTemplate } from '../../src/presets/server.ts'
import { sessionHandler } from '../handler.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import { lastMessage, openSession, postModern } from '../transport/streamable-http/post.ts'

/** Asks in both eras. */
async function both(handle: Handler, method: string, params: JsonObject): Promise<JsonObject[]> {
  const { send } = await openSession(handle)
  const old = await send({ jsonrpc: '2.0', id: 1, method, params })
  const modern = await postModern(handle, method, params)
  return [await lastMessage(old), await lastMessage(modern)] as unknown as JsonObject[]
}

describe('a resource', () => {
  function files(): Handler {
    const server = createServer({ name: 's', version: '1' })
    for (const uri of ['test://x%20y', 'urn:a:b', 'HTTP://Host/%7Ea/../b', 'file:///a']) {
      server.resource(uri, { name: uri }, () => `I am ${uri}`)
    }
    server.resource('fail:///', { name: 'fail' }, () => {
      throw new Error('secret')
    })
    return sessionHandler(server)
  }

  it.each([
    ['file:///none', -32002, -32602],
    ['test://x y', -32602, -32602],
    ['test://X%20Y', -32002, -32602],
    ['http://host/b', -32002, -32602],
    ['not a uri', -32602, -32602],
    ['http://[', -32602, -32602],
    ['', -32602, -32602],
    [7, -32602, -32602],
    [undefined, -32602, -32602],
    ['fail:///', -32603, -32603],
  ])(
    'with the URI %j is answered with %i before 2026-07-28, and with %i since [B073]',
    async (uri, old, modern) => {
      const answers = await both(files(), 'resources/read', uri === undefined ? {} : { uri })
      const errors = answers.map(({ error }) => error as { code: number; data?: unknown })
      expect(errors.map(({ code }) => code)).toEqual([old, modern])
      if (old === -32002) expect(errors.map(({ data }) => data)).toEqual([{ uri }, { uri }])
      expect(JSON.stringify(errors)).not.toContain('secret')
    },
  )

  it('whose reader returns nothing is not found, which the client can detect [B073]', async () => {
    const server = createServer({ name: 's', version: '1' })
    server.resourceTemplate(
      uriTemplate('db://{id}'),
      { name: 'db' },
      ({ uri, variables: { id } }) => {
        if (id === 'thrown')
          throw new ProtocolError(ErrorCode.RESOURCE_NOT_FOUND, 'No such row', { uri })
        return id === 'none' ? undefined : id === 'empty' ? { contents: [] } : 'x'
      },
    )
    server.resource('db://fails', { name: 'fails' }, () => {
      throw new Error('secret')
    })
    for (const revision of ['2025-11-25', '2026-07-28'] as const) {
      await using client = await connectInMemory(server, { revision })
      const found: boolean[] = []
      for (const name of [
        'db://none',
        'db://empty',
        'db://thrown',
        'x://a',
        'db://fails',
        'no uri',
      ]) {
        const failure: unknown = await client.readResource(name).catch((error: unknown) => error)
        expect(failure).toBeInstanceOf(ProtocolError)
        found.push(isResourceNotFound(failure))
      }
      expect(found).toEqual([true, true, true, true, false, false])
      expect((await client.readResource('db://1')).contents).toHaveLength(1)
    }
  })

  it.each(['test://x%20y', 'urn:a:b', 'HTTP://Host/%7Ea/../b'])(
    'is found by the URI as it is written: %s [B073]',
    async (uri) => {
      for (const { result } of await both(files(), 'resources/read', { uri })) {
        expect(result).toMatchObject({ contents: [{ uri, text: `I am ${uri}` }] })
      }
    },
  )
})

describe('completion', () => {
  it('is offered only where there is something to complete [B075]', async () => {
    const server = createServer({ name: 's', version: '1' })
    server.prompt('p', { input: z.object({ a: z.string() }) }, () => 'x')
    server.resourceTemplate(uriTemplate('x://{a}'), { name: 'x' }, () => 'x')
    const handle = sessionHandler(server)
    const ref = { type: 'ref/prompt', name: 'p' }
    const params = { ref, argument: { name: 'a', value: '' } }
    const answers = await both(handle, 'completion/complete', params)
    expect(answers.map(({ error }) => (error as { code: number }).code)).toEqual([-32601, -32601])
    await using client = await connectInMemory(server, { revision: '2025-11-25' })
    expect(client.serverCapabilities).not.toHaveProperty('completions')
  })

  function completing() {
    const contexts: unknown[] = []
    const server = createServer({ name: 's', version: '1' })
    server.prompt(
      'p',
      {
        input: z.object({ a: z.string().optional(), plain: z.string() }),
        complete: { a: (value) => Array.from({ length: 250 }, (_, n) => `${value}${n}`) },
      },
      () => 'x',
    )
    server.resourceTemplate(
      uriTemplate('x://{country}/{city}'),
      {
        name: 'x',
        complete: {
          city: (value, context) => {
            contexts.push(context)
            return [`${context.country}-${value}`]
          },
        },
      },
      () => 'x',
    )
    return { server, contexts }
  }

  it('has the first hundred values, of optional arguments too, for any beginning [B075]', async () => {
    const { server } = completing()
    for (const revision of ['2025-03-26', '2025-11-25', '2026-07-28'] as const) {
      await using client = await connectInMemory(server, { revision })
      const ref = { type: 'ref/prompt' as const, name: 'p' }
      const found = await client.complete(ref, { name: 'a', value: '' })
      expect(found.values).toHaveLength(100)
      expect(found).toMatchObject({ total: 250, hasMore: true })
      for (const name of ['plain', 'unknown', '__proto__', 'constructor']) {
        const none = await client.complete(ref, { name, value: 'x' })
        expect(none.values).toEqual([])
      }
    }
  })

  it('receives the other arguments [B075]', async () => {
    const { server, contexts } = completing()
    await using client = await connectInMemory(server, { revision: '2025-11-25' })
    const ref = { type: 'ref/resource' as const, uri: 'x://{country}/{city}' }
    const { values } = await client.complete(ref, { name: 'city', value: 'O' }, { country: 'no' })
    expect(values).toEqual(['no-O'])
    expect(contexts).toEqual([{ country: 'no' }])
  })

  it('is rejected with -32602 for an unknown prompt or template [B075]', async () => {
    const handle = sessionHandler(completing().server)
    for (const ref of [
      { type: 'ref/prompt', name: 'none' },
      { type: 'ref/resource', uri: 'none://{a}' },
    ]) {
      const params = { ref, argument: { name: 'a', value: '' } }
      const answers = await both(handle, 'completion/complete', params)
      expect(answers.map(({ error }) => (error as { code: number }).code)).toEqual([-32602, -32602])
    }
  })
})
