/**
 * Sends the server's requests over a duplex connection.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation
 */
import { degradeRequest } from '../protocol/degrade-request.ts'
import { isRequest } from '../protocol/jsonrpc.ts'
import type { RevisionFacts } from '../protocol/revisions.ts'
import type { Session } from '../session/session.ts'
import type { Outbox } from './outbox.ts'
import type { Ask } from './request/ask-mode.ts'

/**
 * Creates the function that sends requests to the client of a session, and waits for the responses. The
 * requests contain only what the client's revision defines.
 */
export function createSessionAsk(
  session: Session,
  revision: RevisionFacts,
  outbox: Outbox,
  timeoutMs: number | undefined,
): Ask {
  return ({ method, params }, signal, onIdAssigned) =>
    session.sendRequest(method, degradeRequest(method, params, revision), {
      send(request) {
        if (isRequest(request)) onIdAssigned?.(request.id)
        void outbox.send(request)
      },
      signal,
      timeoutMs,
    })
}
