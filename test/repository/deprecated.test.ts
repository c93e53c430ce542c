// What the protocol deprecates goes on working, and editors strike it through.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { connect } from '../../src/presets/client.ts'
import type { Client, ConnectOptions } from '../../src/presets/client.ts'
import { createHandler, createServer, createSseHandler, text } from '../../src/presets/server.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import { revisions } from '../../src/index.ts'
import { root } from '../root.ts'

/** The names of what is marked as deprecated in a file. */
function deprecatedIn(file: string): string[] {
  const path = join(root, file)
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true)
  const names: string[] = []
  const visit = (node: ts.Node): void => {
    const { name } = node as ts.NamedDeclaration
    if (name && ts.isIdentifier(name) && ts.getJSDocDeprecatedTag(node)) names.push(name.text)
    ts.forEachChild(node, visit)
  }
  visit(source)
  return names
}

describe('deprecated protocol features', () => {
  it('have a @deprecated tag, for servers and for clients [M-COMPAT-039] [M-SAMP-030] [M-ROOT-013]', () => {
    expect(deprecatedIn('src/server/request/context.ts')).toEqual(['log', 'sample', 'roots'])
    expect(deprecatedIn('src/client/options.ts')).toEqual(['onLog', 'onSample', 'roots'])
    expect(deprecatedIn('src/client/client.ts')).toEqual(['setLogLevel', 'rootsChanged'])
    expect(deprecatedIn('src/transport/http-sse/server.ts')).toEqual(['createSseHandler'])
    expect(deprecatedIn('src/protocol/types.ts')).toContain('includeContext')
  })
})

const server = createServer({ name: 's', version: '1' })
server.tool('all', {}, async (_args, ctx) => {
  await ctx.log('info', 'asking')
  const { content } = await ctx.sample({
    messages: [{ role: 'user', content: { type: 'text', text: 'Hello' } }],
    includeContext: 'thisServer',
    maxTokens: 5,
  })
  const roots = await ctx.roots()
  return text(`${JSON.stringify(content)} ${roots[0]?.uri}`)
})

/** What reaches a client, and what it is asked to include. */
async function course(open: (options: ConnectOptions) => Promise<Client>): Promise<unknown> {
  const logs: unknown[] = []
  const included: unknown[] = []
  await using client = await open({
    onLog: ({ data }) => logs.push(data),
    capabilities: { sampling: { context: {} } },
    onSample: ({ includeContext }) => {
      included.push(includeContext)
      return { role: 'assistant', model: 'm', content: { type: 'text', text: 'Hi' } }
    },
    roots: [{ uri: 'file:///work' }],
  })
  await client.setLogLevel('debug')
  const result = await client.callTool('all')
  return { result: result.content, logs: [...new Set(logs)], included }
}

const expected = {
  result: [{ type: 'text', text: '{"type":"text","text":"Hi"} file:///work' }],
  logs: ['asking'],
  included: ['thisServer'],
}

describe('roots, sampling, logging and the context of servers', () => {
  it.each(revisions.map(({ version }) => version))(
    'work in %s [M-COMPAT-038]',
    async (revision) => {
      expect(await course((options) => connectInMemory(server, { ...options, revision }))).toEqual(
        expected,
      )
    },
  )

  it('work over HTTP+SSE, which a client detects automatically [M-COMPAT-038]', async () => {
    const sse = createSseHandler(server)
    const newer = createHandler(createServer({ name: 'other', version: '1' }))
    const handle = (url: string, init: RequestInit): Promise<Response> => {
      const request = new Request(url, init)
      return request.url.includes('/sse') ? sse(request) : newer(request)
    }
    const url = 'http://localhost/sse'
    expect(
      await course((options) =>
        connect(url, { ...options, fetch: handle, versionCache: new Map() }),
      ),
    ).toEqual(expected)
    await sse.close()
    await newer.close()
  })
})
