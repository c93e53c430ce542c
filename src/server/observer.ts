/**
 * Events of a server, as a basis for audit logs, metrics and traces.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
 */
import { callHook } from '../patterns/hooks.ts'
import type { JsonRpcRequest, JsonRpcResponse, RequestId } from '../protocol/types.ts'
import type { Revision } from '../protocol/revisions.ts'
import type { Exchange } from './request/exchange.ts'
import type { LogRules } from './request/logging.ts'
import { redactedCopy } from './request/redact.ts'

/** The W3C trace context from a request's `_meta`. */
export interface TraceContext {
  readonly traceparent?: string | undefined
  readonly tracestate?: string | undefined
  readonly baggage?: string | undefined
}

/** A request that was answered, or cancelled. */
export interface RequestEvent {
  readonly type: 'request'
  readonly method: string
  readonly id: RequestId
  /** The target of the request: the tool's or prompt's name, or the resource's URI. */
  readonly name: string | undefined
  readonly revision: Revision
  readonly principal: string | undefined
  readonly outcome: 'complete' | 'input_required' | 'failed' | 'error' | 'cancelled'
  /** The error code, if the outcome is `error`. */
  readonly code: number | undefined
  /** The time from dispatch to the response, in milliseconds. */
  readonly durationMs: number
  readonly trace: TraceContext
}

/** An HTTP request that was rejected before it was dispatched. */
export interface RejectionEvent {
  readonly type: 'rejection'
  /** The HTTP status. */
  readonly status: number
  readonly code: number
  /** The error message that the client received. */
  readonly message: string
  /**
   * The detailed reason, if the client received less, for example that an access token is for
   * another audience. It contains no secrets, but may contain text supplied by the client.
   */
  readonly reason?: string | undefined
  readonly origin: string | null
}

/** A session that was opened or that ended. */
export interface SessionEvent {
  readonly type: 'session'
  readonly change: 'opened' | 'ended'
  readonly revision: Revision
  readonly principal: string | undefined
}

/** A subscription to events (`edgewise/events`) that was opened or that ended. */
export interface SubscriptionEvent {
  readonly type: 'subscription'
  readonly change: 'opened' | 'ended'
  /** The name of the event type. */
  readonly name: string
  /** How the subscriber receives events. */
  readonly mode: 'poll' | 'push' | 'webhook'
  readonly principal: string | undefined
}

/** A request to a webhook, with an event or a control body. */
export interface DeliveryEvent {
  readonly type: 'delivery'
  /** The name of the event type. */
  readonly name: string
  readonly subscriptionId: string
  /** The id of the event, or the type of the control body, such as `gap`. */
  readonly eventId: string
  readonly principal: string
  /** `given_up` if this was the last attempt. */
  readonly outcome: 'accepted' | 'failed' | 'given_up'
  /** 1 for the first attempt. */
  readonly attempt: number
  /** The HTTP status; undefined if there was no response. */
  readonly status: number | undefined
  readonly durationMs: number
}

/** An event on a server. Events never contain arguments, results or session ids. */
export type ObservedEvent =
  | RequestEvent
  | RejectionEvent
  | SessionEvent
  | SubscriptionEvent
  | DeliveryEvent

/** Receives events. Exceptions and rejections are passed to `onError`; nothing waits for it. */
export type Observer = (event: ObservedEvent) => void

/** Observes one request; the returned function receives the response. */
export type Watch = (
  message: JsonRpcRequest,
  exchange: Exchange,
) => (response: JsonRpcResponse) => void

/** How a server observes its requests. */
export interface Observation {
  /** Passes on an event after redaction. */
  readonly observe: Observer
  readonly watchRequest: Watch
}

/** The server option `observe`, created by {@link observer}. */
export interface ServerObserver {
  /** Starts observing, with the server's redaction and error reporting. */
  start(rules: Pick<LogRules, 'redact' | 'report'>): Observation
}

/**
 * Observes all requests, rejections and sessions of a server, for audit logs, metrics and traces.
 *
 * @example
 * ```ts
 * import { createServer, observer } from 'edgewise/server'
 *
 * const server = createServer(
 *   { name: 'travel', version: '1.0.0' },
 *   { observe: observer((event) => console.log(JSON.stringify(event))) },
 * )
 * ```
 *
 * @param handle Receives each event; it should return immediately. Its exceptions and rejections
 * are passed to `onError`.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
 */
export function observer(handle: Observer): ServerObserver {
  return {
    start(rules) {
      const observe = redactAndGuard(handle, rules)
      return { observe, watchRequest: createWatch(observe) }
    },
  }
}

/** Creates the function that observes requests. */
function createWatch(observe: Observer): Watch {
  return (message, exchange) => {
    const start = performance.now()
    return (response) =>
      observe(requestEvent(message, exchange, response, performance.now() - start))
  }
}

/** Creates the event for a request and its response. */
function requestEvent(
  { method, id, params }: JsonRpcRequest,
  { revision, caller, cancellation }: Exchange,
  response: JsonRpcResponse,
  durationMs: number,
): RequestEvent {
  const target = params?.name ?? params?.uri
  const code = 'error' in response ? response.error.code : undefined
  return {
    type: 'request',
    method,
    id,
    name: typeof target === 'string' ? target : undefined,
    revision: revision.version,
    principal: caller.principal,
    outcome: cancellation.cancelled ? 'cancelled' : outcomeOf(response),
    code,
    durationMs,
    trace: readTrace(params?._meta),
  }
}

const TRACEPARENT =
  /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-.*)?$/
/**
 * A rough check of `tracestate` and `baggage`: printable ASCII and tabs, at most 8,192 characters.
 */
const PRINTABLE = /^[\x20-\x7e\t]{1,8192}$/

/**
 * Reads the trace context from `_meta`; members that do not match the W3C's formats are skipped.
 */
function readTrace(meta: unknown): TraceContext {
  const { traceparent, tracestate, baggage } = (meta ?? {}) as Record<string, unknown>
  return {
    traceparent: matching(TRACEPARENT, traceparent),
    tracestate: matching(PRINTABLE, tracestate),
    baggage: matching(PRINTABLE, baggage),
  }
}

function matching(format: RegExp, value: unknown): string | undefined {
  return typeof value === 'string' && format.test(value) ? value : undefined
}

function outcomeOf(response: JsonRpcResponse): RequestEvent['outcome'] {
  if ('error' in response) return 'error'
  if (response.result.resultType === 'input_required') return 'input_required'
  return response.result.isError === true ? 'failed' : 'complete'
}

/** Wraps an observer so that events are redacted, and its failures have no effect on requests. */
function redactAndGuard(
  observe: Observer,
  { redact, report }: Pick<LogRules, 'redact' | 'report'>,
): Observer {
  return (event) => {
    callHook(() => {
      const redacted = redact ? redactedCopy(event, redact) : event
      return redacted && observe(redacted)
    }, report)
  }
}
