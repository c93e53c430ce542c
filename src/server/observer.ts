/**
 * What an author can observe of a server: enough to build an audit log, metrics or traces on.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
 */
import { callHook } from '../patterns/hooks.ts'
import type { JsonRpcRequest, JsonRpcResponse, RequestId } from '../protocol/jsonrpc.ts'
import type { Revision } from '../protocol/revisions.ts'
import type { Exchange } from './request/exchange.ts'
import type { LogRules } from './request/logging.ts'
import { scrub } from './request/redact.ts'

/** The W3C trace context that a request carries in its `_meta`. */
export interface TraceContext {
  readonly traceparent?: string | undefined
  readonly tracestate?: string | undefined
  readonly baggage?: string | undefined
}

/** A request that was answered, or whose answer nobody waits for any more. */
export interface RequestEvent {
  readonly type: 'request'
  readonly method: string
  readonly id: RequestId
  /** What the request is about: the tool's or prompt's name, or the resource's URI. */
  readonly name: string | undefined
  readonly revision: Revision
  readonly principal: string | undefined
  readonly outcome: 'complete' | 'input_required' | 'failed' | 'error' | 'cancelled'
  /** The code of the error, with the outcome `error`. */
  readonly code: number | undefined
  /** Milliseconds from dispatch to the answer. */
  readonly durationMs: number
  readonly trace: TraceContext
}

/** An HTTP request that was refused before anything ran. */
export interface RefusalEvent {
  readonly type: 'refusal'
  /** The HTTP status. */
  readonly status: number
  readonly code: number
  /** What the client was told. */
  readonly message: string
  /**
   * Why, where the client is told less: what is wrong with an access token, such as that its
   * audience is another server. Holds no secrets, but what whoever sent the request wrote.
   */
  readonly reason?: string | undefined
  readonly origin: string | null
}

/** A session that was opened, or that ended. */
export interface SessionEvent {
  readonly type: 'session'
  readonly change: 'opened' | 'ended'
  readonly revision: Revision
  readonly principal: string | undefined
}

/** Something that happened on a server. None of it holds arguments, results or session ids. */
export type ObservedEvent = RequestEvent | RefusalEvent | SessionEvent

/** Receives events. What it throws or rejects with goes to `onError`; nothing waits for it. */
export type Observer = (event: ObservedEvent) => void

/** Watches one request; what it gives learns of the response. */
export type Watch = (
  message: JsonRpcRequest,
  exchange: Exchange,
) => (response: JsonRpcResponse) => void

/** How a server observes its requests. */
export interface Observation {
  /** Passes an event on, scrubbed. */
  readonly observe: Observer
  readonly watchRequest: Watch
}

/** The option `observe` of a server, made by {@link observer}. */
export interface ServerObserver {
  /** Starts to observe, with the rules of the server's log messages. */
  start(rules: Pick<LogRules, 'redact' | 'report'>): Observation
}

/**
 * Observes every request, refusal and session of a server, for audit logs, metrics and traces.
 *
 * @param handle Receives each event; should return at once. Errors that it throws, or rejects with,
 *   are passed to `onError`.
 * @example
 * ```ts
 * const server = createServer(info, { observe: observer((event) => console.log(event)) })
 * ```
 */
export function observer(handle: Observer): ServerObserver {
  return {
    start(rules) {
      const observe = guarded(handle, rules)
      return { observe, watchRequest: watching(observe) }
    },
  }
}

/** Makes what watches requests for an observer. */
function watching(observe: Observer): Watch {
  return (message, exchange) => {
    const start = performance.now()
    return (response) =>
      observe(requestEvent(message, exchange, response, performance.now() - start))
  }
}

/** The event of a request and its response. */
function requestEvent(
  { method, id, params }: JsonRpcRequest,
  { revision, caller, cancellation }: Exchange,
  response: JsonRpcResponse,
  durationMs: number,
): RequestEvent {
  const named = params?.name ?? params?.uri
  const failure = 'error' in response ? response.error.code : undefined
  return {
    type: 'request',
    method,
    id,
    name: typeof named === 'string' ? named : undefined,
    revision: revision.version,
    principal: caller.principal,
    outcome: cancellation.cancelled ? 'cancelled' : outcome(response),
    code: failure,
    durationMs,
    trace: readTrace(params?._meta),
  }
}

const TRACEPARENT =
  /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-.*)?$/
/** What `tracestate` and `baggage` may be, roughly: members of visible ASCII. */
const MEMBERS = /^[\x20-\x7e\t]{1,8192}$/

/** The trace context in a `_meta`; members that do not follow the W3C's formats are left out. */
function readTrace(meta: unknown): TraceContext {
  const { traceparent, tracestate, baggage } = (meta ?? {}) as Record<string, unknown>
  return {
    traceparent: matching(TRACEPARENT, traceparent),
    tracestate: matching(MEMBERS, tracestate),
    baggage: matching(MEMBERS, baggage),
  }
}

function matching(format: RegExp, value: unknown): string | undefined {
  return typeof value === 'string' && format.test(value) ? value : undefined
}

function outcome(response: JsonRpcResponse): RequestEvent['outcome'] {
  if ('error' in response) return 'error'
  if (response.result.resultType === 'input_required') return 'input_required'
  return response.result.isError === true ? 'failed' : 'complete'
}

/** An observer that receives nothing that `redact` removes, and whose failures break nothing. */
function guarded(
  observe: Observer,
  { redact, report }: Pick<LogRules, 'redact' | 'report'>,
): Observer {
  return (event) => {
    callHook(() => {
      const scrubbed = redact ? scrub(event, redact) : event
      return scrubbed && observe(scrubbed)
    }, report)
  }
}
