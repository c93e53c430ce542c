/**
 * The Edgewise client with servers of mcp-lite and tmcp, in process through their fetch handlers, in
 * every revision that they speak.
 */
import { describe, expect, test } from 'vitest'

import { connect, type Client, type ConnectOptions } from '../../src/presets/client.ts'
import type { Revision } from '../../src/index.ts'
import { booked, counted, greeting, memo, question, reviewOf, textOf } from './contract.ts'
import { serveMcpLite } from './servers/mcp-lite.ts'
import { serveTmcp } from './servers/tmcp.ts'

type Serve = () => (request: Request) => Promise<Response>

const servers: [label: string, serve: Serve, revision: Revision | undefined, found: Revision][] = [
  ['mcp-lite', () => serveMcpLite(true), undefined, '2025-03-26'],
  ['mcp-lite', () => serveMcpLite(true), '2025-06-18', '2025-06-18'],
  ['mcp-lite', () => serveMcpLite(true), '2025-03-26', '2025-03-26'],
  ['mcp-lite without sessions', () => serveMcpLite(false), undefined, '2025-03-26'],
  ['tmcp', serveTmcp, undefined, '2026-07-28'],
  ['tmcp', serveTmcp, '2026-07-28', '2026-07-28'],
  ['tmcp', serveTmcp, '2025-06-18', '2025-06-18'],
  ['tmcp', serveTmcp, '2025-03-26', '2025-03-26'],
  ['tmcp', serveTmcp, '2024-11-05', '2024-11-05'],
]

async function open(
  serve: Serve,
  revision: Revision | undefined,
  options: ConnectOptions = {},
): Promise<{ client: Client; problems: Error[] }> {
  const handle = serve()
  const problems: Error[] = []
  const client = await connect('http://localhost/mcp', {
    fetch: (url, init) => handle(new Request(url, init)),
    versionCache: new Map(),
    onError: (problem) => problems.push(problem),
    ...(revision && { revision }),
    ...options,
  })
  return { client, problems }
}

describe.each(servers)('Edgewise client with %s', (label, serve, revision, found) => {
  test(`agrees on ${found} when ${revision ?? 'nothing'} is asked for, lists, reads and calls`, async () => {
    const { client, problems } = await open(serve, revision)
    expect(client.revision).toBe(found)
    expect(client.serverInfo?.name).toBe(label.split(' ')[0])
    const tools = (await client.listAllTools()).map(({ name }) => name)
    expect(tools).toEqual(expect.arrayContaining(['greet', 'count']))
    expect((await client.listAllResources()).map(({ uri }) => uri)).toEqual([memo.uri])
    expect((await client.listAllPrompts()).map(({ name }) => name)).toEqual(['review'])
    const names = ['Ada', 'Grace', 'Radia']
    const answers = await Promise.all(names.map((name) => client.callTool('greet', { name })))
    expect(answers.map(({ content }) => textOf(content[0]))).toEqual(names.map(greeting))
    expect(textOf((await client.readResource(memo.uri)).contents[0])).toBe(memo.text)
    const { messages } = await client.getPrompt('review', { topic: 'streams' })
    expect(textOf(messages[0]?.content)).toBe(reviewOf('streams'))
    // tmcp has a result of its own for it, mcp-lite an error
    const missing: unknown = await client.callTool('none').catch((error: unknown) => error)
    expect(missing).toMatchObject(label === 'tmcp' ? { isError: true } : { code: -32601 })
    await client.ping()
    await client.close()
    expect(problems).toEqual([])
  })

  test('receives progress before the result', async () => {
    const { client } = await open(serve, revision)
    const received: number[] = []
    const onProgress = ({ progress }: { progress: number }): void => void received.push(progress)
    const { content } = await client.callTool('count', { to: 3, pauseMs: 1 }, { onProgress })
    expect(textOf(content[0])).toBe(counted(3))
    expect(received).toEqual([1, 2, 3])
    await client.close()
  })
})

describe.each(['2025-06-18', '2026-07-28'] as const)(
  'Edgewise client with tmcp in %s',
  (revision) => {
    test('answers an elicitation', async () => {
      const asked: string[] = []
      const { client } = await open(serveTmcp, revision, {
        onElicit({ message }) {
          asked.push(message)
          return { action: 'accept', content: { confirm: true } }
        },
      })
      const { content } = await client.callTool('book', { city: 'Oslo' })
      expect(textOf(content[0])).toBe(booked('Oslo', true))
      expect(asked).toEqual([question('Oslo')])
      await client.close()
    })
  },
)
