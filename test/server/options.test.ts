// Unknown options and definitions are rejected by name.
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createLoopbackFlow } from '#internal/authorization'
import { createEndpoint } from '#internal/http'
import { loopbackHost } from '../../runtimes/node/loopback.ts'
import { stdioClient } from '../../runtimes/node/stdio-client.ts'
import { signIn } from '../../src/authorization/index.ts'
import { connect as connectTiny } from '../../src/presets/client-tiny.ts'
import { connect } from '../../src/presets/client.ts'
import {
  introspectedTokens,
  jwtTokens,
  protectedResource,
} from '../../src/protected-resource/index.ts'
import {
  createHandler,
  createMemorySessionStore,
  createServer,
  createSseHandler,
  sealedSessions,
  statefulSessions,
  serveTransport,
  uriTemplate,
} from '../../src/presets/server.ts'
import {
  createHandler as createTinyHandler,
  createServer as createTinyServer,
} from '../../src/presets/server-tiny.ts'
import { tasks } from '../../src/tasks/index.ts'
import { connectInMemory, inMemoryTransports } from '../../src/testing/index.ts'
import { openWire } from './wire.ts'

const info = { name: 's', version: '1' }

/** Options as JavaScript has them, which no compiler looks at. */
const untyped = (options: object): never => options as never

const cases: [string, () => unknown, RegExp][] = [
  [
    'the schema of another library for a tool',
    () => createServer(info).tool('add', untyped({ inputSchema: z.object({}) }), () => ''),
    /^The tool "add" has no option "inputSchema"; it has .*\binput\b/,
  ],
  [
    'another output schema for a tool',
    () => createServer(info).tool('add', untyped({ outputSchema: {} }), () => ''),
    /^The tool "add" has no option "outputSchema"; it has .*\boutput\b/,
  ],
  [
    'a name for a tool, which would take the place of its own',
    () => createServer(info).tool('add', untyped({ name: 'other' }), () => ''),
    /^The tool "add" has no option "name"/,
  ],
  [
    'an option of tools for a change of one',
    () =>
      createServer(info)
        .tool('add', {}, () => '')
        .update(untyped({ _meta: {} }), () => ''),
    /^The tool "add" has no option "_meta"; it has .*\bmeta\b/,
  ],
  [
    'the schema of another library for a prompt',
    () => createServer(info).prompt('say', untyped({ argsSchema: {} }), () => ''),
    /^The prompt "say" has no option "argsSchema"; it has .*\binput\b/,
  ],
  [
    'the scopes of tools for a resource',
    () => createServer(info).resource('x://a', untyped({ name: 'a', scopes: ['a'] }), () => ''),
    /^The resource "x:\/\/a" has no option "scopes"/,
  ],
  [
    'the size of resources for a template',
    () =>
      createServer(info).resourceTemplate(
        uriTemplate('x://{a}'),
        untyped({ name: 'a', size: 1 }),
        () => '',
      ),
    /^The template "x:\/\/\{a\}" has no option "size"/,
  ],
  [
    'a misspelt option for a server',
    () => createServer(info, untyped({ onerror: () => {} })),
    /^The server has no option "onerror"; it has .*\bonError\b/,
  ],
  [
    'an option of full servers for a tiny one',
    () => createTinyServer(info, untyped({ observe: () => {} })),
    /^The server \("edgewise\/server" has more\) has no option "observe"/,
  ],
  [
    'a misspelt limit for a handler',
    () => createHandler(createServer(info), untyped({ maxBodySize: 5 })),
    /^The handler has no option "maxBodySize"; it has .*\bmaxBodyBytes\b/,
  ],
  [
    'a misspelt limit for a tiny handler',
    () => createTinyHandler(createTinyServer(info), untyped({ maxBodySize: 5 })),
    /^The handler .* has no option "maxBodySize"; it has .*\bmaxBodyBytes\b/,
  ],
  [
    'secrets for the handler of a tiny server',
    () => createTinyHandler(createTinyServer(info), untyped({ secrets: 'x'.repeat(32) })),
    /^The handler \("edgewise\/server" has more\) has no option "secrets"/,
  ],
  [
    'secrets for a tiny server that listens',
    () => createEndpoint(createTinyServer(info), untyped({ secrets: 'x'.repeat(32) })),
    /^Serving over HTTP \("edgewise\/server" has more\) has no option "secrets"/,
  ],
  [
    'a misspelt option for a server that listens',
    () => createEndpoint(createServer(info), untyped({ host: 'localhost' })),
    /^Serving over HTTP has no option "host"; it has .*\bhostname\b.*\bsessions\b/,
  ],
  [
    'a misspelt limit for tasks',
    () => tasks(untyped({ maxTask: 5 })),
    /^tasks has no option "maxTask"; it has .*\bmaxTasks\b/,
  ],
  [
    'misspelt scopes for a protected resource',
    () => protectedResource(untyped({ needScopes: ['a'] })),
    /^protectedResource has no option "needScopes"; it has .*\bscopes\b/,
  ],
  [
    'a misspelt check of signing in',
    () => signIn(untyped({ client: {}, strictResource: true })),
    /^signIn has no option "strictResource"; it has .*\bexactResource\b/,
  ],
  [
    'a misspelt limit of sessions',
    () => statefulSessions(untyped({ idleMS: 5 })),
    /^statefulSessions has no option "idleMS"; it has .*\bidleMs\b/,
  ],
  [
    'a misspelt protection over HTTP+SSE',
    () => createSseHandler(createServer(info), untyped({ protected: true })),
    /^The HTTP\+SSE handler has no option "protected"; it has .*\bauth\b/,
  ],
  [
    'misspelt algorithms of tokens',
    () => jwtTokens(untyped({ algorithm: ['ES256'] })),
    /^jwtTokens has no option "algorithm"; it has .*\balgorithms\b/,
  ],
  [
    'a misspelt timeout of introspection',
    () => introspectedTokens(untyped({ timeout: 5 })),
    /^introspectedTokens has no option "timeout"; it has .*\btimeoutMs\b/,
  ],
  [
    'a misspelt lifetime of sealed sessions',
    () => sealedSessions(untyped({ ttl: 5 })),
    /^sealedSessions has no option "ttl"; it has .*\bttlMs\b/,
  ],
  [
    'a misspelt limit of a store',
    () => createMemorySessionStore(untyped({ maxEvent: 5 })),
    /^createMemorySessionStore has no option "maxEvent"; it has .*\bmaxEvents\b/,
  ],
  [
    'a misspelt approval of a program',
    () => stdioClient(untyped({ command: 'node', onApprove: () => false })),
    /^stdioClient has no option "onApprove"; it has .*\bapprove\b/,
  ],
  [
    'a misspelt port of the redirect URI',
    () => createLoopbackFlow(loopbackHost, untyped({ ports: 5 })),
    /^loopback has no option "ports"; it has .*\bport\b/,
  ],
]

describe('an option of an unknown name', () => {
  it.each(cases)('is refused with the names that there are: %s [P008]', (_what, give, message) => {
    expect(give).toThrow(TypeError)
    expect(give).toThrow(message)
  })

  it('is refused by a client before anything is sent [P008]', async () => {
    const options = untyped({ timeout: 5, fetch: () => expect.fail('Sent') })
    await expect(connect('http://localhost/mcp', options)).rejects.toThrow(
      /^The client has no option "timeout"; it has .*\btimeoutMs\b/,
    )
    const handlers = untyped({ onElicit: () => ({}) })
    await expect(connectTiny('http://localhost/mcp', handlers)).rejects.toThrow(
      'The tiny client ("edgewise/client" has more) has no option "onElicit"',
    )
  })
})

describe('a tool that is always a task', () => {
  const always = () => {
    const server = createServer(info)
    server.tool('export', { task: 'required' }, () => 'done')
    return server
  }

  it('counts as it is when serving begins, including earlier changes [P008]', () => {
    const removed = createServer(info)
    removed.tool('export', { task: 'required' }, () => 'done').remove()
    expect(() => createHandler(removed)).not.toThrow()
    const updated = createServer(info)
    updated.tool('export', {}, () => '').update({ task: 'required' }, () => 'done')
    expect(() => createHandler(updated)).toThrow('The tool "export" must run as a task')
  })

  it('is not served by a server that has no tasks [P008]', async () => {
    const message = 'The tool "export" must run as a task: extend the server with tasks()'
    expect(() => createHandler(always())).toThrow(message)
    expect(() => createSseHandler(always())).toThrow(message)
    const [near] = inMemoryTransports()
    await expect(serveTransport(always(), near)).rejects.toThrow(message)
    const server = always()
    server.extend(tasks())
    expect(() => createHandler(server)).not.toThrow()
  })

  it.each([
    ['2025-06-18', /use revision 2025-11-25 or a newer one$/],
    ['2025-11-25', /call it with the param "task"$/],
    ['2026-07-28', /declare the extension "io.modelcontextprotocol\/tasks"$/],
  ] as const)('says to a client of %s how it is called [I012]', async (revision, remedy) => {
    const server = always()
    server.extend(tasks())
    await using client = await connectInMemory(server, { revision })
    await expect(client.callTool('export', {})).rejects.toThrow(remedy)
  })
})

describe('a handler', () => {
  it('may return nothing, where the tool has no output [I011]', async () => {
    const server = createServer(info, { onError: () => {} })
    // That these compile is half of the test
    server.tool('block', {}, () => {})
    server.tool('undefined', {}, () => undefined)
    server.tool('async', { input: z.object({}) }, async () => {})
    server.tool(
      'output',
      { output: z.object({ a: z.number() }) },
      untyped(() => {}),
    )
    await using client = await connectInMemory(server)
    for (const name of ['block', 'undefined', 'async']) {
      expect((await client.callTool(name)).content).toEqual([])
    }
    await expect(client.callTool('output')).rejects.toMatchObject({ code: -32603 })
  })

  it('gets no arguments that a host made up for a tool without an input [I012]', async () => {
    const seen: unknown[] = []
    const server = createServer(info)
    server.tool('now', {}, (args) => {
      seen.push(args)
      return 'noon'
    })
    for (const revision of ['2025-06-18', '2025-11-25', '2026-07-28'] as const) {
      await using client = await connectInMemory(server, { revision })
      const result = await client.callTool('now', { random_string: 'dummy' })
      expect(result).toMatchObject({ content: [{ text: 'noon' }] })
      expect(result.isError).toBeUndefined()
    }
    expect(seen).toEqual([{}, {}, {}])
  })
})

it('an icon of the server that is a data URI is reported, as every result carries it [I012]', async () => {
  const errors: unknown[] = []
  const onError = (error: unknown): unknown => errors.push(error)
  createServer({ ...info, icons: [{ src: 'https://example.com/icon.png' }] }, { onError })
  expect(errors).toEqual([])
  const server = createServer({ ...info, icons: [{ src: 'data:image/png;base64,' }] }, { onError })
  expect(errors.map(String)).toEqual([
    'TypeError: The icons of a server are sent with every result: use URLs',
  ])
  const wire = await openWire(server)
  expect(wire.welcome.serverInfo).toHaveProperty('icons')
})
