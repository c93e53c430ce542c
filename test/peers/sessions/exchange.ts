/**
 * What each pair of client and server does in a session.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'

import { memo, place, SLOWLY, thought, type SessionClient } from './contract.ts'

const all = ['think', 'where', 'touch', 'grow', 'hang', 'hung', 'slow', 'leave']

/**
 * Defines the tests of one pair; call it inside a `describe` that names the two.
 *
 * @param left What `leave` answers with.
 * @param drop Breaks every connection between the two, where they can be reopened.
 */
export function exchange(
  connect: () => Promise<SessionClient>,
  left: string,
  drop?: () => void,
): void {
  let client: SessionClient

  beforeAll(async () => {
    client = await connect()
  })
  afterAll(() => client?.[Symbol.asyncDispose]())

  test('they agree on 2025-11-25', async () => {
    expect(client.revision).toBe('2025-11-25')
    expect((await client.listTools()).toSorted()).toEqual(all.toSorted())
  })

  test('the server samples the model of the client', async () => {
    expect(await client.callTool('think')).toBe(thought.answer)
    expect(client.sampled).toEqual([thought.prompt])
  })

  test('the server learns the roots', async () => {
    expect(await client.callTool('where')).toBe(`${place.name}: ${place.uri}`)
  })

  test('the client is notified of changes to subscribed resources, and only then', async () => {
    await client.callTool('touch')
    await client.subscribe(memo.uri)
    await client.callTool('touch')
    await expect.poll(() => client.updated).toEqual([memo.uri])
    await client.unsubscribe(memo.uri)
    await client.callTool('touch')
    await client.listTools()
    expect(client.updated).toEqual([memo.uri])
  })

  test('the client is notified that the tools have changed', async () => {
    const before = client.listChanges()
    await client.callTool('grow')
    await expect.poll(() => client.listChanges()).toBeGreaterThan(before)
    expect(await client.listTools()).toContain('grown')
    expect(await client.callTool('grown')).toBe('grown')
  })

  test('a call that the client gives up is cancelled on the server', async () => {
    const controller = new AbortController()
    const call = client.callTool('hang', controller.signal)
    call.catch(() => {})
    // Answered while the other runs
    await expect.poll(() => client.callTool('hung')).toBe('1 begun, 0 cancelled')
    controller.abort()
    await expect(call).rejects.toThrow()
    await expect.poll(() => client.callTool('hung')).toBe('1 begun, 1 cancelled')
  })

  test('a call whose connection the server ends is answered all the same', async () => {
    expect(await client.callTool('leave')).toBe(left)
  })

  if (!drop) return
  test('an answer whose connection broke is got by resuming', async () => {
    expect(await client.watchTool('slow', drop)).toBe(SLOWLY)
  })

  test('notifications of the server arrive after the connection broke', async () => {
    await client.subscribe(memo.uri)
    const before = client.updated.length
    drop()
    await expect
      .poll(async () => {
        await client.callTool('touch')
        return client.updated.length
      })
      .toBeGreaterThan(before)
  })
}
