/**
 * Finds the session that a request names, wherever it is held.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import { HEADER_SESSION_ID } from '../../../protocol/headers.ts'
import { sessionRevision } from '../../../server/features/initialize.ts'
import type { SessionRecord } from '../../../session/session.ts'
import type { HostSessions, Membership } from './manager.ts'
import { readHeader } from '../../http/request-body.ts'
import { namesNoSession, refuse, sessionNotFound } from '../../http/http-error.ts'

/** What is known of the id of a session. */
export interface Held extends Pick<Membership, 'live'> {
  readonly record?: SessionRecord | undefined
}

/** Makes what finds the session that a request names, from what knows ids. */
export function finder(
  held: (id: string, principal: string | undefined) => Promise<Held>,
): HostSessions['find'] {
  return async (request, stated, caller) => {
    const id = readHeader(request.headers, HEADER_SESSION_ID)
    if (id === null) throw namesNoSession()
    const { live, record } = await held(id, caller.principal)
    if (!record || record.principal !== caller.principal) throw sessionNotFound()
    const revision = sessionRevision(record)
    if (stated && stated !== revision) {
      throw refuse(400, `The session speaks ${revision.version}, not ${stated.version}`)
    }
    const client = { info: record.clientInfo, capabilities: record.clientCapabilities }
    return { live, client, revision }
  }
}
