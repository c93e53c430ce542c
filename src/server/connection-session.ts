/**
 * The session of a duplex connection: answers its requests, and announces changes to its client.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 */
import type { Cancellation } from '../patterns/cancellation.ts'
import { COMPLETE, type OngoingOperation } from '../patterns/guard-observer.ts'
import { degradeNotification } from '../protocol/degrade.ts'
import { notification } from '../protocol/jsonrpc.ts'
import type { RevisionFacts } from '../protocol/revisions.ts'
import type { JsonRpcNotification, JsonRpcRequest, JsonRpcResponse } from '../protocol/types.ts'
import { Session, type SessionRecord } from '../session/session.ts'
import type { ServerDefinition } from './definition.ts'
import { dispatch } from './engine/dispatch.ts'
import { PushAskMode } from './engine/push-ask-mode.ts'
import { resolveSessionMethod } from './engine/session-methods.ts'
import { announceTo } from './features/announce.ts'
import { sessionRevision } from './features/initialize.ts'
import { mayReceive } from './features/subscriptions.ts'
import type { ChangeSource, Unsubscribe } from './notifier.ts'
import type { Outbox } from './outbox.ts'
import type { Authorizer, Caller, Exchange } from './request/exchange.ts'
import { DEFAULT_LOG_LEVEL } from './request/logging.ts'
import { createSessionAsk } from './session-ask.ts'

/** What a session needs from its connection. */
export interface SessionHost {
  readonly server: ServerDefinition
  readonly outbox: Outbox
  readonly caller: Caller
  readonly authorizer?: Authorizer | undefined
  readonly inputTimeoutMs?: number | undefined
  readonly changeSource?: ChangeSource | undefined
}

/** The session that a client has opened with `initialize`. */
export class ConnectionSession {
  readonly state: Session
  readonly revision: RevisionFacts
  readonly #host: SessionHost
  /** The session as an operation, if the server has an observer. */
  readonly #ongoing: OngoingOperation | undefined
  #unsubscribe: Unsubscribe | undefined

  constructor(host: SessionHost, record: SessionRecord) {
    this.state = new Session(record)
    this.revision = sessionRevision(record)
    this.#host = host
    const { server, caller } = host
    const { principal } = caller
    // Only callers over HTTP have a request
    const http = 'request' in caller
    const operation = { type: 'session', revision: record.revision, principal, http } as const
    this.#ongoing = server.observe?.begin(operation)
    this.#announceChanges().catch((error: unknown) => server.report(error))
  }

  /** Answers a request; `undefined` when it was cancelled. */
  async answer(message: JsonRpcRequest): Promise<JsonRpcResponse | undefined> {
    const { server } = this.#host
    const cancellation = this.state.openRequest(message.id)
    const target = resolveSessionMethod(server, message.method, this.revision)
    const response = await dispatch(server, message, this.#createExchange(cancellation), target)
    this.state.closeRequest(message.id)
    return cancellation.cancelled ? undefined : response
  }

  handleNotification({ method, params = {} }: JsonRpcNotification): void {
    const session = this.state
    const { clients } = this.#host.server
    if (method === 'notifications/cancelled') {
      session.cancelRequest(params.requestId, params.reason)
    } else if (method === 'notifications/initialized') {
      session.record.initialized = true
      // From now on, a gateway can send requests to this client
      clients?.add(this.#createExchange(session.life))
    } else if (method === 'notifications/roots/list_changed') {
      clients?.rootsChanged(this.#createExchange(session.life))
    }
  }

  /** Cancels all requests, and stops announcing changes. */
  close(): void {
    this.#unsubscribe?.()
    this.state.close()
    this.#ongoing?.end(COMPLETE)
  }

  /** Announces changes until the session closes. */
  async #announceChanges(): Promise<void> {
    const { state: session, revision } = this
    const { server, outbox, caller, changeSource = server.notify } = this.#host
    const send: Exchange['send'] = (message) => outbox.send(message)
    const announce = server.observe?.notify(send, { caller, revision }) ?? send
    const unsubscribe = await changeSource?.subscribe(
      (change) => {
        if (!mayReceive(server, change, { ...caller, client: session.client })) return
        announceTo(session, change, announce)
      },
      { caller },
    )
    if (session.life.cancelled) unsubscribe?.()
    else this.#unsubscribe = unsubscribe
  }

  #createExchange(cancellation: Cancellation): Exchange {
    const { state: session, revision } = this
    const { server, outbox, caller, authorizer, inputTimeoutMs } = this.#host
    const ask = createSessionAsk(session, revision, outbox, inputTimeoutMs)
    return {
      revision,
      client: session.client,
      caller,
      authorizer,
      cancellation,
      logLevel: session.record.logLevel ?? DEFAULT_LOG_LEVEL,
      session,
      send: ({ method, params }) => {
        // Without what the client's revision does not define
        const degraded = notification(method, degradeNotification(method, params, revision))
        return outbox.sendFor(cancellation, degraded)
      },
      askMode: new PushAskMode(server.observe?.ask(ask, { caller, revision }) ?? ask),
    }
  }
}
