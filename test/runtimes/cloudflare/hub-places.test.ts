// Callers who open all streams of a hub: they get some, then an error, and others still get theirs.
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Handler } from '../../../src/presets/server.ts'
import { PATIENCE } from '../../patience.ts'
import { openSession, postModern } from '../../transport/streamable-http/post.ts'
import { EventReader, listen } from './events.ts'
import { bundleWorker, startWorker, type Workerd } from './workerd.ts'

const LISTS = 'notifications/tools/list_changed'
const TOO_MANY = 'Too many streams are open for this caller'
const FULL = 'No stream can be opened for now'

let script: string
let workerd: Workerd

beforeAll(async () => {
  script = (await bundleWorker('worker.ts'))
    .replace(/MAX_SOCKETS = [\de]+/, 'MAX_SOCKETS = 8')
    .replace('hubShards: 2', 'hubShards: 1')
  expect(script).toContain('MAX_SOCKETS = 8;')
})
beforeEach(async () => {
  workerd = await startWorker(script)
})
afterEach(() => workerd.stop())

/** Sends requests as a principal. */
function as(headers: Record<string, string>): Handler {
  const handle = (request: Request): Promise<Response> => {
    const all = new Headers(request.headers)
    for (const [name, value] of Object.entries(headers)) all.set(name, value)
    return workerd.handle(new Request(request, { headers: all }))
  }
  return Object.assign(handle, { close: () => Promise.resolve() })
}
const user = (name: string): Handler => as({ 'x-user': name })
const stranger = (address: string): Handler => as({ 'cf-connecting-ip': address })

const ask = (handle: Handler): Promise<Response> =>
  postModern(handle, 'subscriptions/listen', { notifications: { toolsListChanged: true } })

async function subscribe(handle: Handler): Promise<EventReader> {
  const reader = new EventReader(await ask(handle))
  expect((await reader.next())?.message?.method).toBe('notifications/subscriptions/acknowledged')
  return reader
}

/** Listens as a session, whose stream says nothing before something changed. */
async function join(handle: Handler): Promise<Response> {
  const { id } = await openSession(handle, '2025-06-18')
  return listen(handle, id)
}

async function expectRefused(response: Response, message: string): Promise<void> {
  expect(response.status).toBe(503)
  expect(response.headers.get('retry-after')).toMatch(/^\d+$/)
  expect(await response.json()).toHaveProperty('error.message', message)
}

describe('A caller', () => {
  it('cannot use up the streams of a hub, and other callers are not affected', async () => {
    const ann = user('ann')
    const hers = [
      await subscribe(ann),
      await subscribe(ann),
      new EventReader(await join(ann)),
      new EventReader(await join(ann)),
    ]
    await expectRefused(await ask(ann), TOO_MANY)
    await expectRefused(await join(ann), TOO_MANY)
    const bob = user('bob')
    const his = [await subscribe(bob), new EventReader(await join(bob))]
    await expectRefused(await ask(bob), TOO_MANY)
    const others = [await subscribe(user('cid')), await subscribe(user('dan'))]
    await workerd.get('/notify')
    for (const reader of [...hers, ...his, ...others]) {
      expect((await reader.next())?.message?.method).toBe(LISTS)
    }
    await expectRefused(await ask(user('eve')), FULL)
    await expectRefused(await join(user('eve')), FULL)
    for (const reader of hers) await reader.cancel()
    await vi.waitFor(async () => {
      // Clients that are gone are noticed when something is written to them.
      await workerd.get('/notify')
      expect((await ask(ann)).status).toBe(200)
    }, PATIENCE)
  })

  it('without a name is who has its address, however many addresses of IPv6 that is', async () => {
    const network = ['2001:db8:1:2::1', '2001:db8:1:2:ffff::', '2001:db8:1:2:3:4:5:6']
    const all = [...network, network[0]!]
    const readers = await Promise.all(all.map((address) => subscribe(stranger(address))))
    for (const address of network) await expectRefused(await ask(stranger(address)), TOO_MANY)
    readers.push(await subscribe(stranger('2001:db8:1::1')))
    readers.push(await subscribe(stranger('203.0.113.7')))
    await expect(ask(user('ann')).then(({ status }) => status)).resolves.toBe(200)
    await expect(ask(workerd.handle).then(({ status }) => status)).resolves.toBe(200)
    await expectRefused(await ask(stranger('::1')), FULL)
    for (const reader of readers) await reader.cancel()
  })
})
