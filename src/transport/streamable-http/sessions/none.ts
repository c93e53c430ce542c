/**
 * No sessions: each request of the revisions with sessions is handled independently. Messages
 * outside of responses cannot be sent to the client.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import type { Awaitable } from '../../../patterns/awaitable.ts'
import { Cancellation } from '../../../patterns/cancellation.ts'
import { degradeNotification } from '../../../protocol/degrade.ts'
import { isResponse, notification } from '../../../protocol/jsonrpc.ts'
import type {
  JsonRpcNotification,
  JsonRpcRequest,
  JsonRpcResponse,
} from '../../../protocol/types.ts'
import { ASSUMED_REVISION, type RevisionFacts } from '../../../protocol/revisions.ts'
import { dispatch } from '../../../server/engine/dispatch.ts'
import { UNKNOWN_CLIENT, type Caller, type ClientFacts } from '../../../server/request/exchange.ts'
import { NEEDS_SESSION } from '../../../server/request/ask-mode.ts'
import { sessionNotFound } from '../../http/http-error.ts'
import type { HttpEndpoint } from '../incoming.ts'
import { Reply, type ReplyOptions } from '../reply.ts'
import {
  answerInitialize,
  requireLegacyRevision,
  type HttpSession,
  type SessionProvider,
} from './manager.ts'

/** Whether the server can send messages outside of responses. */
const CAN_PUSH = false

/** Responds to `initialize` without a session id. In later requests, the client is therefore unknown. */
export const withoutSessions: SessionProvider = (endpoint) => ({
  allow: 'POST, OPTIONS',
  resolve: (incoming) =>
    new UnstoredSession(
      endpoint,
      requireLegacyRevision(incoming) ?? ASSUMED_REVISION,
      UNKNOWN_CLIENT,
    ),
  open: (incoming, message) => answerInitialize(incoming, message, CAN_PUSH),
  close: async () => {},
})

/** A session that consists only of its negotiated parameters. It has no state that outlives a request. */
export class UnstoredSession implements HttpSession {
  readonly revision: RevisionFacts
  readonly #endpoint: HttpEndpoint
  readonly #client: ClientFacts

  constructor(endpoint: HttpEndpoint, revision: RevisionFacts, client: ClientFacts) {
    this.#endpoint = endpoint
    this.revision = revision
    this.#client = client
  }

  createReply(options: ReplyOptions): Reply {
    return new Reply(options)
  }

  handle(message: JsonRpcRequest, reply: Reply, caller: Caller): Awaitable<JsonRpcResponse> {
    const { revision } = this
    const { server, options } = this.#endpoint
    return dispatch(server, message, {
      revision,
      client: this.#client,
      caller,
      authorizer: options.auth,
      cancellation: new Cancellation(),
      logLevel: undefined,
      askMode: NEEDS_SESSION,
      send: ({ method, params }) =>
        reply.send(notification(method, degradeNotification(method, params, revision))),
    })
  }

  async receive(message: JsonRpcNotification | JsonRpcResponse, caller: Caller): Promise<void> {
    const sender = { caller, client: this.#client }
    if (!isResponse(message)) await this.#endpoint.server.receive?.(message, sender)
  }

  rejectPending(): void {}

  isInFlight(): boolean {
    return false
  }

  // Never called, because `allow` makes the handler reject GET and DELETE with 405
  listen(): Promise<Response> {
    throw sessionNotFound()
  }

  end(): Promise<Response> {
    return this.listen()
  }
}
