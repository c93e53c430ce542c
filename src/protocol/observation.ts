/**
 * What an observer receives: the operations of a client or a server, when they begin and when they end.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
 */
import type { Revision } from './revisions.ts'
import type { JsonObject, RequestId, Result } from './types.ts'

/** The W3C trace context in the `_meta` of a message. */
export interface TraceContext {
  readonly traceparent?: string | undefined
  readonly tracestate?: string | undefined
  readonly baggage?: string | undefined
}

/**
 * Called when an operation begins. Returns an observation, whose `end` is called when the operation
 * ends, or nothing if the end does not matter. Exceptions are passed to `onError`, and have no effect on
 * the operation.
 */
export type Observer = (operation: Operation) => Observation | void

/** The beginning of an operation. As JSON it contains no arguments, and never a token or a session id. */
export interface Operation {
  /**
   * - `request`: A request, including its retries. If the server asks for input, the request with the answers is an
   *   operation of its own.
   * - `notification`: A notification.
   * - `session`: A session, while this process has it in memory.
   * - `stream`: A stream for messages that the server initiates in a session.
   * - `subscription`: A subscription to events, in the process in which it was opened.
   * - `task`: One run of a task's handler.
   * - `delivery`: A request to a webhook.
   * - `refusal`: A message that was refused before dispatch. It ends immediately.
   * - `authorization`: On a client, the handling of a challenge, which may obtain a token. On a server,
   *   the authentication of a caller.
   */
  readonly type:
    | 'request'
    | 'notification'
    | 'session'
    | 'stream'
    | 'subscription'
    | 'task'
    | 'delivery'
    | 'refusal'
    | 'authorization'
  /** The side that is observed. */
  readonly side: 'client' | 'server'
  /** Whether this side sends the request or notification, or receives it. */
  readonly direction?: 'sent' | 'received' | undefined
  readonly method?: string | undefined
  /**
   * The id of the request. If a client sends a request again, this is the id of the first attempt. For a request
   * of a server to a client, the outcome has the id instead.
   */
  readonly id?: RequestId | undefined
  /** The name of the tool, the prompt or the event type. */
  readonly name?: string | undefined
  /** The URI of the resource. */
  readonly uri?: string | undefined
  /**
   * Whether the method, and the tool or prompt that the message names, exist on the receiver. The
   * sender can choose an unknown name freely, so it must not become a label of metrics.
   */
  readonly isKnown?: boolean | undefined
  readonly revision?: Revision | undefined
  /** The authenticated principal of the caller, on a server. */
  readonly principal?: string | undefined
  /** The URL of the server, on a client over HTTP, without user information, query and fragment. */
  readonly url?: string | undefined
  /** Whether the message travels over HTTP. */
  readonly http?: boolean | undefined
  /** Whether the message travels over a pipe, as on stdio. */
  readonly isPipe?: boolean | undefined
  /** The trace context that arrived in `_meta`, without malformed members. */
  readonly trace?: TraceContext | undefined
  /** How a subscriber receives events. */
  readonly mode?: 'poll' | 'push' | 'webhook' | undefined
  readonly subscriptionId?: string | undefined
  /** The id of the event, or the type of a webhook body that is not an event, such as `gap`. */
  readonly eventId?: string | undefined
  /** The id of the task, for a run of its handler. */
  readonly taskId?: string | undefined
  /** Whether a session or subscription began in another process, so that its duration is unknown. */
  readonly isResumed?: boolean | undefined
  /** Which attempt of the delivery this is; 1 for the first one. */
  readonly attempt?: number | undefined
  /** The `Origin` header of a refused request. */
  readonly origin?: string | null | undefined
  /** The params, which may contain personal data and secrets. Not part of the JSON. */
  params?(): JsonObject | undefined
}

/** What an observer does with an operation that has begun. */
export interface Observation {
  /** The trace context to send in the `_meta` of the message, for an operation that is sent. */
  readonly trace?: TraceContext | undefined
  /** Runs the operation, for example with your span as the active one. Must call `work` once, synchronously. */
  run?(work: () => void): void
  /** Called once, when the operation has ended. */
  end?(outcome: Outcome): void
}

/** The end of an operation. */
export interface Outcome {
  /**
   * - `complete`: The operation succeeded.
   * - `input_required`: The server needs input, with which the client sends the request again.
   * - `failed`: The tool returned `isError`, or the attempt at a delivery failed.
   * - `given_up`: The last attempt at a delivery failed.
   * - `error`: The operation failed with `error`.
   * - `cancelled`: The requester cancelled the operation, or disconnected.
   */
  readonly outcome: 'complete' | 'input_required' | 'failed' | 'given_up' | 'error' | 'cancelled'
  /** The error that ended the operation. */
  readonly error?: OperationError | undefined
  /** The id of a request of a server to its client. */
  readonly id?: RequestId | undefined
  /** The HTTP status of a refusal or a delivery. */
  readonly status?: number | undefined
  /** How often a client sent the request, if more than once. */
  readonly attempts?: number | undefined
  /** The time since the operation began, in milliseconds. */
  readonly durationMs: number
  /** The result, which may contain personal data. Not part of the JSON. */
  result?(): Result | undefined
}

/** The error that ended an operation. */
export interface OperationError {
  /** The JSON-RPC code, or the code of an `SdkError`, such as `TIMEOUT`. Absent for other errors. */
  readonly code?: number | string | undefined
  /**
   * The message that the other side received, or the message of the local error. Credentials in it are
   * replaced by `[redacted]`.
   */
  readonly message: string
  /** The HTTP status of the response, if the error is not in its body. */
  readonly status?: number | undefined
  /**
   * The detailed reason of a refusal, if the client received less, for example that an access token is
   * for another audience. It contains no secrets, but may contain text of the client.
   */
  readonly reason?: string | undefined
}
