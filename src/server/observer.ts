/**
 * The operations of a server, as a basis for audit logs, metrics and traces.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
 */
import type { Awaitable } from '../patterns/awaitable.ts'
import { boundedCache } from '../patterns/bounded-cache.ts'
import { whenCancelled } from '../patterns/cancellation.ts'
import {
  authorizationEnd,
  COMPLETE,
  guardObserver,
  runObserved,
  type OngoingOperation,
  type OperationEnd,
} from '../patterns/guard-observer.ts'
import type { Observer } from '../protocol/observation.ts'
import type { RevisionFacts } from '../protocol/revisions.ts'
import type { JsonRpcNotification, JsonRpcRequest, JsonRpcResponse } from '../protocol/types.ts'
import { negotiateSession } from './features/initialize.ts'
import {
  observeAsk,
  observeNotifications,
  observeSending,
  readMessage,
  receivedOperation,
  responseEnd,
  type BeginServerOperation,
  type KnownNames,
  type MessageFacts,
  type ServerOperation,
} from './observed-messages.ts'
import type { Ask } from './request/ask-mode.ts'
import type { Caller, Exchange } from './request/exchange.ts'
import type { LogRules } from './request/logging.ts'
import { redactedCopy, type Redact } from './request/redact.ts'

/** The maximum number of sessions and subscriptions whose beginning is remembered. */
const MAX_OPEN = 100_000

const SERVER = { side: 'server' } as const

/** Answers a request. The returned promise never rejects. */
type Answer<Server, Target> = (
  server: Server,
  message: JsonRpcRequest,
  exchange: Exchange,
  target: Target,
) => Awaitable<JsonRpcResponse>

/** Authenticates callers. */
interface Authentication<Server> {
  authenticate(
    request: Request,
    caller: Caller,
    server: Server,
  ): Promise<Caller | Response> | Caller
}

/** Opens sessions over HTTP. */
interface Sessions<Incoming> {
  open(incoming: Incoming, message: JsonRpcRequest): Promise<Response>
}

/** An `initialize` over HTTP. */
interface Initialization {
  readonly caller: Caller
  readonly endpoint: {
    readonly server: KnownNames & { readonly revisions: readonly RevisionFacts[] }
  }
}

/** Why a message was refused before dispatch. */
interface Refusal {
  /** The HTTP status, if there is one. */
  readonly status?: number
  readonly error: { readonly code: number; readonly message: string }
  readonly options?: { readonly reason?: string | undefined }
}

/** What is known about a refused message. */
export interface RefusedMessage {
  readonly caller: Caller
  /** The JSON of the body; empty if the body was not read. */
  readonly text: string
}

/** How a server reports its operations. */
export interface ServerObservation {
  /** Begins an operation. */
  begin: BeginServerOperation
  /**
   * Begins an operation that may end in another process, such as a session.
   *
   * @param key The id of the session or subscription, or an object that identifies it in this
   *   process.
   */
  open(key: unknown, operation: ServerOperation): void
  /**
   * Ends an operation that {@link open} began. If another process began the operation, its beginning and its end
   * are both observed now.
   */
  close(key: unknown, operation: ServerOperation): void
  /** Observes a request, which `answer` answers. */
  request<Server extends KnownNames, Target>(
    answer: Answer<Server, Target>,
    server: Server,
    message: JsonRpcRequest,
    exchange: Exchange,
    target: Target,
  ): Promise<JsonRpcResponse>
  /** Observes the request that opens a session over HTTP. */
  initialize<Incoming extends Initialization>(
    sessions: Sessions<Incoming>,
    incoming: Incoming,
    message: JsonRpcRequest,
  ): Promise<Response>
  /** Observes a message that was handled without waiting, such as a notification. */
  receive(
    known: KnownNames,
    message: JsonRpcNotification | JsonRpcRequest,
    facts: MessageFacts,
  ): void
  /** Observes the requests of the server to the client. */
  ask(ask: Ask, facts: MessageFacts): Ask
  /** Observes notifications that belong to no request. */
  notify(send: Exchange['send'], facts: MessageFacts): Exchange['send']
  /** Observes the authentication of a caller. */
  authenticate<Server>(
    auth: Authentication<Server>,
    request: Request,
    caller: Caller,
    server: Server,
  ): Promise<Caller | Response>
  /** Observes a refusal. */
  refuse(
    known: KnownNames,
    refusal: Refusal,
    origin?: string | null,
    refused?: RefusedMessage,
  ): void
}

/** The option `observe` of a server, created by {@link serverObserver}. */
export interface ServerObserver {
  /** Starts observing, with the server's redaction and error reporting. */
  start(rules: Pick<LogRules, 'redact' | 'report'>): ServerObservation
}

/**
 * Observes the operations of a server, for audit logs, metrics and traces: a value for the option
 * `observe`. The observer is called when an operation begins. The `end` of the object that it returns is
 * called when the operation ends.
 *
 * @example
 * ```ts
 * import { createServer, serverObserver } from 'edgewise/server'
 *
 * const observe = serverObserver((operation) => ({
 *   end: (outcome) => console.log(JSON.stringify({ ...operation, ...outcome })),
 * }))
 * const server = createServer({ name: 'travel', version: '1.0.0' }, { observe })
 * ```
 *
 * @param observer Called for each operation; it should return immediately. Its exceptions are passed to
 *   `onError`.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
 */
export function serverObserver(observer: Observer): ServerObserver {
  return {
    start({ redact, report }) {
      const redactAll = redact && redactWithin(redact)
      const copy = redactAll && (<T>(value: T): T | undefined => redactedCopy(value, redactAll))
      const begin = guardObserver(observer, report, copy)
      // Each operation is a new object, so it is changed instead of copied
      return createObservation((operation) => begin(Object.assign(operation, SERVER)))
    },
  }
}

/**
 * Extends a redaction to the contents of texts that are JSON, such as the text that repeats the structured
 * content of a result.
 */
function redactWithin(redact: Redact): Redact {
  return (name, value) => {
    const kept = redact(name, value)
    if (name !== 'text' || typeof kept !== 'string' || !/^\s*[[{]/.test(kept)) return kept
    try {
      return JSON.stringify(JSON.parse(kept), redact) ?? ''
    } catch {
      return kept
    }
  }
}

function createObservation(begin: BeginServerOperation): ServerObservation {
  const opened = boundedCache<unknown, OngoingOperation>(MAX_OPEN)
  /** The errors of requests that were operations of their own before they were refused. */
  const observedErrors = new WeakSet<object>()
  return {
    begin,
    open: (key, operation) => opened.set(key, begin(operation)),
    close(key, operation) {
      const ongoing = opened.get(key) ?? begin({ ...operation, isResumed: true })
      opened.delete(key)
      ongoing.end(COMPLETE)
    },
    async request(answer, server, message, exchange, target) {
      const ongoing = begin(receivedOperation(server, message, exchange))
      const { cancellation, caller } = exchange
      // The handler may ignore the cancellation, and never return
      const cancel = (): void => ongoing.end({ outcome: 'cancelled' })
      const stop = whenCancelled(cancellation, cancel, caller)
      const response = await ongoing.run(() =>
        answer(server, message, observeSending(exchange, begin), target),
      )
      stop()
      ongoing.end(responseEnd(response, cancellation.cancelled))
      return response
    },
    initialize(sessions, incoming, message) {
      const { server } = incoming.endpoint
      const revision = negotiateSession(server, message.params?.protocolVersion)
      const { caller } = incoming
      const ongoing = begin(receivedOperation(server, message, { caller, revision }))
      const opening = runObserved(ongoing, () => sessions.open(incoming, message))
      // An error with an HTTP status contains the error that `refuse` will receive
      opening.catch((error: unknown) => {
        const { error: refused = error } = Object(error) as { error?: unknown }
        observedErrors.add(Object(refused))
      })
      return opening
    },
    receive(known, message, facts) {
      begin(receivedOperation(known, message, facts)).end(COMPLETE)
    },
    ask: (ask, facts) => observeAsk(ask, facts, begin),
    notify: (send, facts) => observeNotifications(send, facts, begin),
    authenticate(auth, request, requester, server) {
      const ongoing = begin({ type: 'authorization', http: true })
      const work = (): Promise<Caller | Response> | Caller =>
        auth.authenticate(request, requester, server)
      const endOf = (caller: Caller | Response): OperationEnd =>
        caller instanceof Response ? { outcome: 'failed', status: caller.status } : COMPLETE
      return runObserved(ongoing, work, endOf, (error) => {
        const end = authorizationEnd(error)
        return { ...end, status: end.error?.status }
      })
    },
    refuse(known, { status, error, options }, origin, refused) {
      const { caller = {}, text } = refused ?? {}
      // A message that was already observed as a request is not observed again
      const message = text && !observedErrors.has(error) ? readMessage(text) : undefined
      const operation = message && receivedOperation(known, message, { caller })
      const { principal } = caller
      const { code, message: description } = error
      const reason = options?.reason
      const http = status !== undefined
      begin({ ...operation, type: 'refusal', principal, origin, http }).end({
        outcome: 'error',
        error: { code, message: description, ...(reason !== undefined && { reason }) },
        status,
      })
    },
  }
}
