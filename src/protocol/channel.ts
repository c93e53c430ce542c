/**
 * The interface between a client and its transports.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports
 */
import type { ProtocolError } from './errors.ts'
import type { JsonRpcNotification, JsonRpcRequest, JsonRpcResponse } from './types.ts'
import type { RevisionFacts } from './revisions.ts'

/** One request in flight, as a channel sees it. */
export interface OutgoingRequest {
  readonly message: JsonRpcRequest
  readonly options: {
    /** HTTP headers that repeat arguments of the request. */
    readonly headers?: Readonly<Record<string, string>> | undefined
    /** Whether the user did not initiate the request, so that it must not start a sign-in. */
    readonly background?: boolean | undefined
    /** Receives the headers of the HTTP response. */
    readonly onHeaders?: ((headers: Headers) => void) | undefined
  }
  /** Aborts when the response is no longer needed. Created when it is first read. */
  readonly signal: AbortSignal
  /** Whether the call has settled. */
  readonly settled: boolean
  /**
   * Settles with the response. Over HTTP, `httpDetails` are added to the error if the response is an error.
   * Only the first `resolve` or `reject` counts.
   */
  resolve(
    response: JsonRpcResponse,
    httpDetails?: Pick<ProtocolError, 'status' | 'retryAfter'>,
  ): void
  /** Settles with the reason why there will be no response. */
  reject(error: Error): void
  /** Pauses the timeouts during work that the server cannot speed up, such as the user's sign-in. */
  pause<T>(work: T | Promise<T>): Promise<T>
}

/** Carries messages to one server. */
export interface Channel {
  /** Present over Streamable HTTP, where headers repeat parts of messages. */
  readonly http?: object
  /** Whether messages travel over a pipe. */
  readonly isPipe?: boolean | undefined
  /** Whether the server has ended the session, and no other session has been opened. */
  readonly lost?: boolean
  /** Sends a request, and settles it with the response. Rejects with the reason if there is no response. */
  request(call: OutgoingRequest): Promise<void>
  /** Sends a message without a response: a notification, or the response to a request from the server. */
  send(message: JsonRpcNotification | JsonRpcResponse): Promise<void>
  /** Opens the stream for messages that the server initiates, if the transport needs one. */
  openStream?(): void
  /** Identifies the user of the requests, so that the cached results of different users stay separate. */
  principal?(): Promise<string>
  /** After the server has rejected the token of a background request, waits until it accepts a new token. */
  untilSignedIn?(signal: AbortSignal): Promise<void>
  /** Closes the connection. */
  close(): Promise<void>
}

/** Receives what arrives on a {@link Channel}. */
export interface ChannelReceiver {
  /** The revision that is in use or being tried. */
  readonly revision: RevisionFacts
  /** The name of the param that the `Mcp-Name` header repeats for a method, if any. */
  nameParam(method: string): string | undefined
  /**
   * Receives parsed JSON that is not validated yet. If `call` is given, the JSON arrived on the stream of that
   * request. Such a stream carries the response of no other request.
   */
  receive(frame: unknown, call?: OutgoingRequest): void
  /** Rejects a frame that cannot be read. If the frame answers a call, the call fails. */
  refuse(frame: unknown, error: unknown): void
  /** Reports an error that belongs to no request. */
  reportError(error: unknown): void
  /** The server ended the session. */
  sessionEnded(): void
  /** Nothing more will arrive. */
  closed(reason?: Error): void
}
