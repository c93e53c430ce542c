/**
 * Sessions that are served elsewhere, such as each in an object of its own.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import { HEADER_LAST_EVENT_ID, HEADER_SESSION_ID } from '../../../protocol/headers.ts'
import { findRevision } from '../../../protocol/revisions.ts'
import type { Caller } from '../../../server/request/exchange.ts'
import type { HostSessions } from './manager.ts'
import type { HandlerSessions } from '../options.ts'
import { readHeader } from '../../http/request-body.ts'
import { answerInSession } from '../session-methods.ts'
import { namesNoSession, sessionNotFound } from '../../http/http-error.ts'

/**
 * Hands over a request that belongs to a session, or that opens one, to where its session is served;
 * nothing when there can be no such session. Origin and host are checked already.
 */
export type SessionForwarder = (request: Request, caller: Caller) => Promise<Response> | undefined

/**
 * Lets `createHandler` serve sessions that another handler has, as its option `sessions`; what
 * `createWorker` does.
 *
 * @param take Answers each request of a session in place of the handler.
 */
export function forwardedSessions(take: SessionForwarder): HandlerSessions {
  const forward = async (request: Request, caller: Caller): Promise<Response> => {
    const response = take(request, caller)
    if (response) return response
    throw sessionNotFound()
  }
  const start: HandlerSessions['start'] = (server, options) => {
    const sessions: HostSessions = {
      reach: true,
      answer: (request, caller) => answerInSession({ server, options, sessions }, request, caller),
      openElsewhere: ({ url, method, headers }, body, caller) =>
        forward(new Request(url, { method, headers, body }), caller),
      forwardEarly(request, version, caller) {
        const legacy = version === null || findRevision(version)?.era === 'legacy'
        return legacy && request.headers.has(HEADER_SESSION_ID)
          ? forward(withSingleValues(request), caller)
          : undefined
      },
      find: () => Promise.reject(namesNoSession()),
    }
    return sessions
  }
  return { start }
}

/** The request with one value in the headers by which it finds its session. */
function withSingleValues(request: Request): Request {
  let { headers } = request
  for (const name of [HEADER_SESSION_ID, HEADER_LAST_EVENT_ID]) {
    const value = readHeader(headers, name)
    if (value === null || value === headers.get(name)) continue
    headers = new Headers(headers)
    headers.set(name, value)
  }
  return headers === request.headers ? request : new Request(request, { headers })
}
