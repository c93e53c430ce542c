// Functions of an application that nothing waits for: what they throw harms nothing else.
import { describe, expect, it, vi } from 'vitest'
import { callHook } from '#internal/patterns'
import { createReconnectingClient, observeSignIn } from '../../src/presets/client.ts'
import type { Observer } from '../../src/protocol/observation.ts'
import { createServer, serverObserver, text } from '../../src/presets/server.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import { closing } from '../closing.ts'

/** A hook that an author made async, and that fails. */
const rejects = (what: string) => (): unknown => Promise.reject(new Error(what))

describe('hooks of an application', () => {
  it('are called at once, and an error or a rejection is reported [S012]', async () => {
    const reported: unknown[] = []
    let calls = 0
    const report = (error: unknown) => void reported.push(error)
    callHook(() => calls++, report)
    callHook(() => {
      throw new Error('thrown')
    }, report)
    callHook(rejects('rejected'), report)
    expect(calls).toBe(1)
    await expect
      .poll(() => reported.map(String).toSorted())
      .toEqual(['Error: rejected', 'Error: thrown'])
  })

  it('report the rejection of an observer to onError of the server [S012]', async () => {
    const errors: unknown[] = []
    const server = createServer(
      { name: 's', version: '1' },
      {
        observe: serverObserver(rejects('No audit log') as Observer),
        onError: (error) => errors.push(error),
      },
    )
    server.tool('act', {}, () => text('done'))
    const client = closing(await connectInMemory(server, { revision: '2025-11-25' }))
    expect(await client.callTool('act')).toMatchObject({ content: [text('done')] })
    await expect.poll(() => errors.map(String)).toContain('Error: No audit log')
  })

  it.each(['2025-11-25', '2026-07-28'] as const)(
    'report rejections of a client of %s to its onError, and other hooks are still called [S012]',
    async (revision) => {
      const errors: unknown[] = []
      const logs: unknown[] = []
      const server = createServer({ name: 's', version: '1' })
      server.tool('act', {}, async (_args, ctx) => {
        await ctx.progress(1)
        await ctx.log('error', 'logged')
        return 'done'
      })
      const client = closing(
        await connectInMemory(server, {
          revision,
          onError: (error) => errors.push(error),
          onToolsChanged: rejects('onToolsChanged'),
          onNotification: rejects('onNotification'),
          onLog: ({ data }) => {
            logs.push(data)
            throw new Error('onLog')
          },
        }),
      )
      await client.ping()
      await client.callTool('act', {}, { onProgress: rejects('onProgress'), logLevel: 'debug' })
      server.notify.toolsListChanged()
      await expect
        .poll(() => [...new Set(errors.map((error) => (error as Error).message))].toSorted())
        .toEqual(['onLog', 'onNotification', 'onProgress', 'onToolsChanged'])
      expect(logs).toEqual(['logged'])
    },
  )

  it('do not stop other listeners or the sender if one throws [S017]', async () => {
    const errors: unknown[] = []
    const onError = (error: unknown) => errors.push(error)
    const server = createServer({ name: 's', version: '1' }, { onError })
    server.resource('test://a', { name: 'a' }, () => 'a')
    server.tool('announce', {}, () => {
      server.notify.resourcesListChanged()
      return 'announced'
    })
    server.notify.subscribe(() => {
      throw new Error('This listener fails')
    })
    let changes = 0
    const client = closing(
      await connectInMemory(server, {
        revision: '2025-11-25',
        onResourcesChanged: () => changes++,
      }),
    )
    expect(await client.callTool('announce')).toMatchObject({ content: [text('announced')] })
    await expect.poll(() => changes).toBe(1)
    expect(errors.map(String)).toEqual(['Error: This listener fails'])
  })

  it('do not hide a state from other listeners if one rejects [S012]', async () => {
    const problems: unknown[] = []
    const connection = createReconnectingClient('http://localhost:1/', {
      onError: (error) => problems.push(error),
      fetch: () => Promise.reject(new Error('No network')),
    })
    const states: string[] = []
    connection.subscribe(rejects('Cannot show it'))
    connection.subscribe(() => states.push(connection.getSnapshot().status))
    connection.open()
    await expect.poll(() => states).toEqual(['connecting', 'failed'])
    await expect.poll(() => problems.map(String)).toContain('Error: Cannot show it')
  })

  it('do not stop a sign-in if a listener rejects [S012]', async () => {
    const spy = vi.spyOn(console, 'error').mockImplementation(() => {})
    const interaction = observeSignIn({
      begin: () =>
        Promise.resolve({
          redirectUri: 'http://127.0.0.1/',
          go: () => Promise.resolve('http://127.0.0.1/?code=1'),
        }),
    })
    interaction.subscribe(rejects('Cannot show the URL'))
    const visit = await interaction.begin(undefined)
    const { signal } = new AbortController()
    expect(await visit.go('https://as.example/', 'flow', signal)).toContain('code=1')
    await expect.poll(() => spy.mock.calls.length).toBe(2)
    spy.mockRestore()
  })
})
