import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allMessages, openSession } from '../transport/streamable-http/post.ts'
import { EventReader, listen } from './events.ts'
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
    let before = 0
    const written = async (): Promise<number> => {
      const total = (await (await workerd.get(`/written/${id}`)).json()) as number
      const added = total - before
      before = total
      return added
    }
    expect(await written(), 'The session and its alarm').toBe(2)
    for (let n = 0; n < 5; n++) await allMessages(await send(call(n, 'add', { a: n, b: 1 })))
    expect(await written(), 'Calls that are answered at once').toBe(0)

    const stream = new EventReader(await listen(workerd.handle, id))
    const primed = await stream.next()
    expect(await written(), 'A stream for what belongs to no request').toBe(1)
    await workerd.get('/notify')
    await stream.next()
    expect(await written(), 'The first message, with its tables').toBe(5)
    await workerd.get('/notify')
    await stream.next()
    expect(await written(), 'Another one').toBe(1)
    await allMessages(await send(call(9, 'count', { to: 3 })))
    expect(await written(), 'A stream of four messages, and its end').toBe(6)
    await stream.cancel()

    await workerd.get('/notify')
    await written()
    const again = new EventReader(await listen(workerd.handle, id, primed!.id))
    expect((await again.next())?.message?.method).toBe('notifications/tools/list_changed')
    expect(await written(), 'A client that comes back for the rest').toBe(0)
    await again.cancel()
  })
})
