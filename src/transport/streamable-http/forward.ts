/**
 * Sessions that are served elsewhere, such as each in an object of its own.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import { HEADER_SESSION_ID } from '../../protocol/headers.ts'
import { findRevision } from '../../protocol/revisions.ts'
import type { Caller } from '../../server/exchange.ts'
import type { HostSessions } from './host-sessions.ts'
import type { SessionForwarder } from './options.ts'
import { namesNoSession, sessionNotFound } from './refusal.ts'

/** The sessions of a handler that hands their requests over. */
export function sessionsElsewhere(take: SessionForwarder): HostSessions {
  const forward = async (request: Request, caller: Caller): Promise<Response> => {
    const response = take(request, caller)
    if (response) return response
    throw sessionNotFound()
  }
  return {
    reach: true,
    forward,
    forwardEarly(request, version, caller) {
      const legacy = version === null || findRevision(version)?.era === 'legacy'
      return legacy && request.headers.has(HEADER_SESSION_ID) ? forward(request, caller) : undefined
    },
    find: () => Promise.reject(namesNoSession()),
  }
}
