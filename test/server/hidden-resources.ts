/** Which caller may see and be notified of which resource, checked on every host. */
import { expect } from 'vitest'
import {
  createServer,
  type Caller,
  type Handler,
  type Server,
  type ServerOptions,
  uriTemplate,
} from '../../src/presets/server.ts'
import { EventReader, listen } from '../runtimes/cloudflare/events.ts'
import { openSession, postModern } from '../transport/streamable-http/post.ts'

/** A server with resources for everyone, and some below them for `ann` alone. */
export function makeRestricted(options?: ServerOptions): Server {
  const server = createServer({ name: 'restricted', version: '1' }, options)
  const visible = ({ principal }: Caller): boolean => principal === 'ann'
  server.resource('notes://all', { name: 'all' }, () => 'all')
  server.resource('notes://all/open', { name: 'open' }, () => 'open')
  server.resource('notes://all/secret', { name: 'secret', visible }, () => 'secret')
  server.resourceTemplate(
    uriTemplate('notes://all/files/{id}'),
    { name: 'files', visible },
    () => 'file',
  )
  server.resource('notes://all/gone', { name: 'gone', visible }, () => 'gone').remove()
  return server
}

/** A host of {@link makeRestricted}. */
export interface RestrictedHost {
  /** A handler that authenticates every request as that principal. */
  as(principal: string): Handler
  /** Announces that a resource changed. */
  updated(uri: string): Promise<void>
}

const LAST = 'notes://all/open'
const CHANGED = ['notes://all/secret', 'notes://all/files/1', 'notes://all/gone', LAST]
const NOTIFIED = { ann: ['notes://all/secret', 'notes://all/files/1', LAST], bob: [LAST] }

/** The update notifications of a stream, up to the last. */
async function heardOn(reader: EventReader): Promise<unknown[]> {
  const uris: unknown[] = []
  for (let event = await reader.next(); event; event = await reader.next()) {
    if (event.message) uris.push(event.message.params?.uri)
    if (uris.at(-1) === LAST) break
  }
  await reader.cancel()
  return uris
}

/** Checks which resources callers of 2026-07-28 may subscribe to and be notified of. */
export async function checkListening({ as, updated }: RestrictedHost): Promise<void> {
  const notifications = {
    resourceSubscriptions: ['notes://all', 'notes://all/secret', 'notes://all/none'],
  }
  for (const [principal, received] of Object.entries(NOTIFIED)) {
    const response = await postModern(as(principal), 'subscriptions/listen', { notifications })
    const reader = new EventReader(response)
    const watched = notifications.resourceSubscriptions.slice(0, principal === 'ann' ? 2 : 1)
    expect((await reader.next())?.message?.params?.notifications).toEqual({
      resourceSubscriptions: watched,
    })
    for (const uri of CHANGED) await updated(uri)
    expect(await heardOn(reader)).toEqual(received)
  }
}

/** Checks which resources sessions may subscribe to and be notified of, also after a gap. */
export async function checkSession({ as, updated }: RestrictedHost): Promise<void> {
  for (const [principal, received] of Object.entries(NOTIFIED)) {
    const handle = as(principal)
    const { id, send } = await openSession(handle)
    const subscribe = async (uri: string): Promise<string> => {
      const request = { jsonrpc: '2.0', id: uri, method: 'resources/subscribe', params: { uri } }
      return (await send(request)).text()
    }
    expect(await subscribe('notes://all')).toContain('"result"')
    expect(await subscribe('notes://all/secret')).toContain(
      principal === 'ann' ? '"result"' : 'Resource not found',
    )
    const reader = new EventReader(await listen(handle, id))
    const first = await reader.next()
    for (const uri of CHANGED) await updated(uri)
    expect(await heardOn(reader)).toEqual(received)
    const again = new EventReader(await listen(handle, id, first?.id))
    expect(await heardOn(again)).toEqual(received)
  }
}
