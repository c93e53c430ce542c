/** Public reports of state and platforms that went wrong, replayed. */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { connect } from '../../src/presets/client.ts'
import { createServer, serveTransport, text } from '../../src/presets/server.ts'
import { sessionHandler } from '../handler.ts'
import { stdioTransport } from '../../src/transport/index.ts'
import { makeServer } from '../server/fixture.ts'
import { lastMessage, openSession } from '../transport/streamable-http/post.ts'

describe('the globals that an application can modify', () => {
  it('decides nothing of where answers go: writing over all of it loses none [B093]', async () => {
    const server = createServer({ name: 's', version: '1' })
    server.tool('greedy', {}, async (_args, ctx) => {
      const { client, meta, auth, env, request } = ctx
      for (const each of [client, meta, auth, env, request, client.capabilities, client.info]) {
        if (typeof each !== 'object' || each === null) continue
        for (const key of Object.keys(each)) Reflect.set(each, key, undefined)
      }
      await ctx.progress(1)
      return text('still here')
    })
    const { send } = await openSession(sessionHandler(server))
    const params = { name: 'greedy', _meta: { progressToken: 'p' } }
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
    const { id, result } = await lastMessage(await send(call))
    expect([id, result]).toEqual([1, { content: [text('still here')] }])
    expect((await send({ jsonrpc: '2.0', id: 2, method: 'tools/list' })).status).toBe(200)
  })
})

describe('the sources', () => {
  it('of what runs everywhere import and name nothing of one platform [B095]', () => {
    const root = new URL('../../src/', import.meta.url)
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    )
    expect(files.length).toBeGreaterThan(50)
    const faults = files.filter((name) => {
      const code = readFileSync(new URL(name, root), 'utf8').replace(/\/\*[^]*?\*\/|\/\/.*/g, '')
      return /\bBuffer\b|globalThis\.process|(?:from |import\()'(?:node|bun|cloudflare|npm|jsr):/.test(
        code,
      )
    })
    expect(faults).toEqual([])
  })
})

describe('arguments of the wrong kind', () => {
  it.each<[string, () => unknown]>([
    [
      'a server as a stream',
      () => stdioTransport(makeServer().server as never, undefined as never),
    ],
    ['streams as a server', () => sessionHandler(new TransformStream() as never)],
  ])('are refused at once: %s [B095]', (_, make) => {
    expect(make).toThrow(TypeError)
  })

  it.each<[string, () => Promise<unknown>]>([
    ['a server to connect to', () => connect(makeServer().server as never)],
    ['nothing to connect to', () => connect(undefined as never)],
    ['an object to serve', () => serveTransport({} as never, {} as never)],
    ['an object to serve on', () => serveTransport(makeServer().server, {} as never)],
  ])('are refused at once: %s [B095]', async (_, make) => {
    await expect(make()).rejects.toThrow(/^(?:The server must be|A transport or a URL is required)/)
  })
})
