import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allMessages, openSession } from '../../transport/streamable-http/post.ts'
import { EventReader, listen, resume } from './events.ts'
import { bundleWorker, startWorker, type Workerd } from './workerd.ts'

let workerd: Workerd

beforeAll(async () => {
  const bindings = { IDLE_MS: '3600000' }
  workerd = await startWorker(await bundleWorker('short-lived.ts'), { bindings })
})
afterAll(() => workerd.stop())

const call = (id: number, name: string, args: object): object => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args, _meta: { progressToken: id } },
})

describe('The rows that a session writes, which cost most', () => {
  it('are two, and more only for what can be resumed', async () => {
    const { id, send } = await openSession(workerd.handle, '2025-11-25')
    const counter = (of: string): (() => Promise<number>) => {
      let before = 0
      return async () => {
        const total = (await (await workerd.get(`/written/${of}`)).json()) as number
        const added = total - before
        before = total
        return added
      }
    }
    const written = counter(id)
    const writtenByHub = counter('hub')
    // The hub of another session makes its tables.
    const other = await openSession(workerd.handle, '2025-11-25')
    await (await listen(workerd.handle, other.id)).body!.cancel()
    await writtenByHub()
    expect(await written(), 'The session and its alarm').toBe(2)
    for (let n = 0; n < 5; n++) await allMessages(await send(call(n, 'add', { a: n, b: 1 })))
    expect(await written(), 'Calls that are answered at once').toBe(0)
    await workerd.get(`/crash/${id}`)
    await allMessages(await send(call(7, 'add', { a: 7, b: 1 })))
    expect(await written(), 'A call whose object was not in memory any more').toBe(0)

    const stream = new EventReader(await listen(workerd.handle, id))
    const primed = await stream.next()
    expect(await written(), 'A stream for what belongs to no request').toBe(1)
    expect(await writtenByHub(), 'Its turn').toBe(1)
    for (let n = 0; n < 2; n++) {
      await workerd.get('/notify')
      await stream.next()
      expect(await written(), 'A change').toBe(0)
      expect(await writtenByHub(), 'A change, for all sessions').toBe(1)
    }
    await allMessages(await send(call(9, 'count', { to: 3 })))
    expect(await written(), 'A stream of four messages, its tables and its end').toBe(10)
    await allMessages(await send(call(10, 'count', { to: 3 })))
    expect(await written(), 'Another one').toBe(6)
    await stream.cancel()

    await workerd.get('/notify')
    await Promise.all([written(), writtenByHub()])
    const again = await resume(workerd.handle, id, primed!.id)
    expect((await again.next())?.message?.method).toBe('notifications/tools/list_changed')
    const both = [await written(), await writtenByHub()]
    expect(both, 'A client that comes back for the rest').toEqual([0, 0])
    await again.cancel()
  })
})
