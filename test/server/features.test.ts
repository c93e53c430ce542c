import { describe, expect, it } from 'vitest'
import { ProtocolError, revisions, type Revision } from '../../src/index.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import type { ConnectOptions } from '../../src/presets/client.ts'
import { makeServer } from './fixture.ts'
import { closing } from '../closing.ts'

const VERSIONS = revisions.map(({ version }) => version)

async function connected(revision: Revision, options: ConnectOptions = {}) {
  const made = makeServer()
  const client = closing(await connectInMemory(made.server, { revision, ...options }))
  return { ...made, client }
}

describe.each(VERSIONS)('a server of everything in %s', (revision) => {
  it('reports its info and capabilities [L-LIFE-003] [L-LIFE-019] [M-DISC-007]', async () => {
    const { client } = await connected(revision)
    expect(client.revision).toBe(revision)
    expect(client.serverInfo).toMatchObject({ name: 'fixture', version: '1.0.0' })
    expect(client.instructions).toBe('Use wisely')
    expect(client.serverCapabilities).toMatchObject({
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
    })
  })

  it('lists its tools in the order of registration', async () => {
    const { client } = await connected(revision)
    const tools = await client.listAllTools()
    expect(tools.map(({ name }) => name)).toEqual(['add', 'fail', 'chat', 'confirm', 'wait'])
    expect(tools[0]?.inputSchema).toMatchObject({ type: 'object', required: ['a', 'b'] })
    expect('outputSchema' in (tools[0] ?? {})).toBe(revision >= '2025-06-18')
  })

  it('calls a tool; structured content comes with text [L-TOOL-023]', async () => {
    const { client } = await connected(revision)
    const result = await client.callTool('add', { a: 1, b: 2 })
    expect(result.content).toEqual([{ type: 'text', text: '{"sum":3}' }])
    expect(result.structuredContent).toEqual(revision >= '2025-06-18' ? { sum: 3 } : undefined)
  })

  it('shows the model only failures that are meant for it [M-BASE-029]', async () => {
    const { client, errors } = await connected(revision)
    const reported = await client.callTool('fail', { how: 'ToolError' })
    const hidden = await client.callTool('fail', { how: 'thrown' })
    expect(reported).toMatchObject({ isError: true, content: [{ text: 'Out of stock' }] })
    expect(hidden.isError).toBe(true)
    expect(JSON.stringify(hidden)).not.toContain('secret')
    expect(errors).toHaveLength(1)
  })

  it('reports progress that increases, and logs [L-PROG-003]', async () => {
    const logs: unknown[] = []
    const progress: unknown[] = []
    const { client } = await connected(revision, { onLog: (message) => logs.push(message) })
    await client.callTool(
      'chat',
      {},
      {
        logLevel: 'info',
        onProgress: ({ progress: done, total, message }) => progress.push([done, total, message]),
      },
    )
    const text = revision === '2024-11-05' ? undefined : 'half'
    expect(progress).toEqual([
      [1, 2, text],
      [2, 2, undefined],
    ])
    expect(logs).toMatchObject([{ level: 'info', logger: 'chat', data: { note: 'halfway' } }])
  })

  it('reads resources by URI and by template', async () => {
    const { client } = await connected(revision)
    expect(await client.readResource('note://one')).toMatchObject({
      contents: [{ uri: 'note://one', mimeType: 'text/plain', text: 'First note' }],
    })
    expect(await client.readResource('note://bytes')).toMatchObject({
      contents: [{ blob: 'AQID' }],
    })
    expect(await client.readResource('user://a%20b/profile')).toMatchObject({
      contents: [{ uri: 'user://a%20b/profile', text: 'Profile of a b' }],
    })
    expect((await client.listAllResourceTemplates()).map((t) => t.uriTemplate)).toEqual([
      'user://{id}/profile',
    ])
  })

  it('names the missing resource [L-RES-014] [M-BASE-035]', async () => {
    const { client } = await connected(revision)
    const error = await client.readResource('note://none').catch((e: unknown) => e)
    expect(error).toBeInstanceOf(ProtocolError)
    const code = revision === '2026-07-28' ? -32602 : -32002
    expect(error).toMatchObject({ code, data: { uri: 'note://none' } })
    await expect(client.readResource('user://unknown/profile')).rejects.toMatchObject({ code })
  })

  it('returns prompts with validated arguments', async () => {
    const { client } = await connected(revision)
    expect(await client.listAllPrompts()).toMatchObject([
      { name: 'greet', arguments: [{ name: 'who', description: 'Whom to greet', required: true }] },
    ])
    const prompt = await client.getPrompt('greet', { who: 'Ada' })
    expect(prompt.messages).toEqual([
      { role: 'user', content: { type: 'text', text: 'Hello, Ada!' } },
    ])
    await expect(client.getPrompt('greet', {})).rejects.toMatchObject({ code: -32602 })
    await expect(client.getPrompt('none')).rejects.toMatchObject({ code: -32602 })
  })

  it('completes at most 100 values [L-COMP-006]', async () => {
    const { client } = await connected(revision)
    const ref = { type: 'ref/prompt', name: 'greet' } as const
    const completion = await client.complete(ref, { name: 'who', value: 'x' })
    expect(completion.values).toHaveLength(100)
    expect(completion).toMatchObject({ total: 150, hasMore: true })
    const template = { type: 'ref/resource', uri: 'user://{id}/profile' } as const
    expect(await client.complete(template, { name: 'id', value: '7' })).toMatchObject({
      values: ['71', '72'],
    })
    const nothing = await client.complete(ref, { name: '__proto__', value: '' })
    expect(nothing.values).toEqual([])
  })

  it('stops a tool when the client cancels, and sends nothing more [L-CANC-005]', async () => {
    const { client, ran } = await connected(revision)
    const controller = new AbortController()
    const call = client.callTool('wait', {}, { signal: controller.signal })
    const failed = expect(call).rejects.toMatchObject({ code: 'ABORTED' })
    await expect.poll(() => ran).toContain('wait')
    controller.abort()
    await failed
    await expect.poll(() => ran).toContain('aborted')
    expect((await client.callTool('add', { a: 1, b: 1 })).isError).toBeFalsy()
  })
})

describe.each(VERSIONS.filter((version) => version >= '2025-06-18'))(
  'a tool that asks, in %s',
  (revision) => {
    it('runs its steps once and gets the answer [M-MRTR-065] [M-MRTR-039]', async () => {
      const { client, ran } = await connected(revision, {
        onElicit: ({ message }) => {
          expect(message).toBe('Buy tea for 42?')
          return { action: 'accept', content: { yes: true } }
        },
      })
      expect(await client.callTool('confirm', { what: 'tea' })).toMatchObject({
        content: [{ text: 'bought: true' }],
      })
      expect(ran.filter((name) => name === 'price')).toHaveLength(1)
    })

    it.each(['decline', 'cancel'] as const)('receives a %s [M-MRTR-036]', async (action) => {
      const { client } = await connected(revision, { onElicit: () => ({ action }) })
      expect(await client.callTool('confirm', { what: 'tea' })).toMatchObject({
        content: [{ text: action }],
      })
    })

    it('fails at once if the client cannot be asked [M-META-014]', async () => {
      const { client } = await connected(revision)
      const call = client.callTool('confirm', { what: 'tea' })
      if (revision === '2026-07-28') {
        await expect(call).rejects.toMatchObject({
          code: -32021,
          data: { requiredCapabilities: { elicitation: { form: {} } } },
        })
      } else {
        expect(await call).toMatchObject({ isError: true })
      }
    })
  },
)

describe('changes while the server runs', () => {
  it.each(VERSIONS)('a new tool is announced in %s [L-TOOL-006] [M-SUB-017]', async (revision) => {
    let changes = 0
    const { client, server } = await connected(revision, { onToolsChanged: () => changes++ })
    await client.listAllTools()
    const registration = server.tool('late', {}, () => 'hello')
    await expect.poll(() => changes).toBe(1)
    expect((await client.listAllTools()).map(({ name }) => name)).toContain('late')
    expect(await client.callTool('late', {})).toMatchObject({ content: [{ text: 'hello' }] })
    registration.disable()
    await expect.poll(() => changes).toBe(2)
    await expect(client.callTool('late', {})).rejects.toMatchObject({ code: -32602 })
    registration.update({ description: 'Changed' }, () => 'changed')
    registration.enable()
    await expect.poll(() => changes).toBeGreaterThan(2)
    expect((await client.listAllTools()).at(-1)).toMatchObject({ description: 'Changed' })
    expect(await client.callTool('late', {})).toMatchObject({ content: [{ text: 'changed' }] })
    const before = changes
    registration.remove()
    await expect.poll(() => changes).toBeGreaterThan(before)
    registration.enable()
    expect((await client.listAllTools()).map(({ name }) => name)).not.toContain('late')
  })
})
