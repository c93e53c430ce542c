import { describe, expect, test } from 'vitest'
import { connect, type Client, type ConnectOptions } from '../../src/presets/client.ts'
import { revisions, type Revision } from '../../src/protocol/revisions.ts'
import { serveTransport } from '../../src/presets/server.ts'
import { sessionHandler } from '../handler.ts'
import { until } from '../client/peers.ts'
import { implementation } from '../protocol/rich.ts'
import { captureFetch, captureTransports, faultsIn, methodsIn, type Captured } from './capture.ts'
import { filled, makeRichServer } from './server.ts'

const meta = { 'com.example/key': { deep: true } }
const received: string[] = []

const options: ConnectOptions = {
  info: implementation,
  capabilities: {
    experimental: { x: {} },
    sampling: { tools: {}, context: {} },
    elicitation: { form: {}, url: {} },
    roots: { listChanged: true },
  },
  onElicit(params) {
    if (params.mode === 'url') return { action: 'accept' }
    const fields = Object.entries(params.requestedSchema.properties ?? {})
    const values = fields.map(([name, { type }]) => [
      name,
      type === 'array' ? ['mo'] : filled[name],
    ])
    return { action: 'accept', content: Object.fromEntries(values) }
  },
  onSample: ({ tools }) => ({
    role: 'assistant',
    model: 'm',
    stopReason: tools ? 'toolUse' : 'ownReason',
    content: tools
      ? [
          { type: 'text', text: 'calling', _meta: meta },
          { type: 'tool_use', id: 'u1', name: 'book', input: { city: 'Oslo' } },
        ]
      : [{ type: 'audio', data: 'AAAA', mimeType: 'audio/wav', _meta: meta }],
    _meta: meta,
  }),
  roots: [{ uri: 'file:///home/a', name: 'home', _meta: meta }],
  onToolsChanged: () => received.push('tools'),
  onPromptsChanged: () => received.push('prompts'),
  onResourcesChanged: () => received.push('resources'),
  onResourceUpdated: (uri) => received.push(uri),
}

/** Uses everything that a client of that revision can. */
async function useEverything(
  client: Client,
  { seen, changing }: ReturnType<typeof makeRichServer>,
): Promise<void> {
  const lists = [
    await client.listAllTools(),
    await client.listAllResources(),
    await client.listAllResourceTemplates(),
    await client.listAllPrompts(),
  ]
  expect(lists.map((list) => list.length)).toEqual([15, 3, 1, 3])
  await client.setLogLevel('debug')
  const calls = [
    'content',
    'list',
    'nothing',
    'toolError',
    'crash',
    'form',
    'url',
    'sample',
    'roots',
  ]
  for (const name of calls) await client.callTool(name, {}, { meta })
  for (const name of ['needsUrl', 'rounds', 'unknown']) await client.callTool(name).catch(() => {})
  await client.callTool('structured', { a: 1 })
  await client.callTool('structured', { a: 'wrong' }).catch(() => {})
  await client.callTool('work', {}, { onProgress: () => {} })

  const stop = new AbortController()
  const waiting = client.callTool('wait', {}, { signal: stop.signal }).catch(() => {})
  await until(() => seen.includes('waiting'))
  stop.abort()
  await waiting
  await until(() => seen.includes('cancelled'))

  for (const uri of ['note://one', 'note://bytes', 'note://many', 'city://no/Oslo', 'no://thing']) {
    await client.readResource(uri).catch(() => {})
  }
  await client.getPrompt('greet', { who: 'Ada' })
  await client.getPrompt('plain')
  await client.getPrompt('greet', {}).catch(() => {})
  const ref = { type: 'ref/prompt' as const, name: 'greet', title: 'A title' }
  const completes = client.serverCapabilities?.completions !== undefined
  if (completes) {
    await client.complete(ref, { name: 'who', value: 'A' }, { how: 'well' })
    const uri = 'city://{country}/{name}'
    const argument = { name: 'name', value: 'O' }
    await client.complete({ type: 'ref/resource', uri }, argument, { country: 'no' })
  }
  await client.ping()
  await client.rootsChanged()

  await client.subscribe('note://one')
  received.length = 0
  changing()
  await until(() =>
    ['tools', 'prompts', 'resources', 'note://one'].every((h) => received.includes(h)),
  )
  await client.unsubscribe('note://one')
  await client.close()
}

const since = (revision: Revision, first: Revision, ...methods: string[]): string[] =>
  revision >= first ? methods : []

/** What must have been captured, so that the test does not pass by saying little. */
function expectAll(captured: readonly Captured[], revision: Revision, http: boolean): void {
  const modern = revision === '2026-07-28'
  const asks = modern
    ? []
    : [
        ...since(revision, '2025-06-18', 'elicitation/create'),
        ...since(revision, '2025-11-25', 'notifications/elicitation/complete'),
        'roots/list',
        'sampling/createMessage',
      ]
  const lists = ['prompts', 'resources', 'tools'].map((of) => `notifications/${of}/list_changed`)
  const own = ['message', 'progress', 'resources/updated'].map((name) => `notifications/${name}`)
  expect(methodsIn(captured, 'server-to-client')).toEqual(
    expect.arrayContaining([...asks, ...lists, ...own]),
  )
  expect(methodsIn(captured, 'client-to-server')).toEqual(
    expect.arrayContaining([
      ...(modern
        ? ['server/discover', 'subscriptions/listen']
        : ['initialize', 'logging/setLevel', 'ping', 'resources/subscribe']),
      ...(modern && http ? [] : ['notifications/cancelled']),
      ...since(revision, '2025-03-26', 'completion/complete'),
      'prompts/get',
      'prompts/list',
      'resources/list',
      'resources/read',
      'resources/templates/list',
      'tools/call',
      'tools/list',
    ]),
  )
}

describe.each(revisions.map(({ version }) => version))('everything said in %s', (revision) => {
  test('over a transport fits the schema, and is known to the revision [L-RPC-001] [L-COM-023]', async () => {
    const made = makeRichServer()
    const { near, far, captured } = captureTransports()
    const served = serveTransport(made.server, far)
    await useEverything(await connect(near, { ...options, revision }), made)
    await served
    expect(faultsIn(captured, revision)).toEqual([])
    expectAll(captured, revision, false)
  })

  test('over HTTP fits the schema, and is known to the revision [L-RPC-001]', async () => {
    const made = makeRichServer()
    const handle = sessionHandler(made.server)
    const { fetch, captured } = captureFetch(handle)
    const eras = new Map<string, string>()
    const client = await connect('http://localhost/mcp', {
      ...options,
      revision,
      fetch,
      versionCache: eras,
    })
    await useEverything(client, made)
    await handle.close()
    expect(faultsIn(captured, revision)).toEqual([])
    expectAll(captured, revision, true)
  })
})
