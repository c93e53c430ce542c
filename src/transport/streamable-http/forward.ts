/**
 * Requests of sessions that are served elsewhere, such as in an object of their own.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import { HEADER_SESSION_ID } from '../../protocol/headers.ts'
import { findRevision } from '../../protocol/revisions.ts'
import type { Caller } from '../../server/exchange.ts'
import type { Host } from './host.ts'
import { sessionNotFound } from './refusal.ts'

/** Whether a request goes to its session by its headers alone; its body is not read for that. */
export function isForwarded({ forward }: Host, headers: Headers, version: string | null): boolean {
  const legacy = version === null || findRevision(version)?.era === 'legacy'
  return forward !== undefined && legacy && headers.has(HEADER_SESSION_ID)
}

/**
 * Hands a request over.
 *
 * @throws {Refusal} 404 when there can be no such session.
 */
export async function forward(host: Host, request: Request, caller: Caller): Promise<Response> {
  const response = host.forward?.(request, caller)
  if (response) return response
  throw sessionNotFound()
}
