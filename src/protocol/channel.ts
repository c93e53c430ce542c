/**
 * How the client's messages travel, seen from the client: the one interface between its core and
 * the transports.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports
 */
import type { JsonRpcNotification, JsonRpcRequest, JsonRpcResponse } from './jsonrpc.ts'
import type { RevisionFacts } from './revisions.ts'

/** One request on its way, as a channel sees it. */
export interface Outgoing {
  readonly message: JsonRpcRequest
  readonly options: {
    /** HTTP headers that repeat arguments of the request. */
    readonly headers?: Readonly<Record<string, string>> | undefined
    /** Whether the user did not ask for it, so that no sign-in may begin because of it. */
    readonly background?: boolean | undefined
  }
  /** Aborts when nobody waits for the answer any more. Made when it is first read. */
  readonly signal: AbortSignal
  /** Whether the outcome is known. */
  readonly settled: boolean
  /** Takes the answer, over HTTP with its status. Only the first `resolve` or `reject` counts. */
  resolve(response: JsonRpcResponse, status?: number): void
  /** Takes the reason why there will be no answer. */
  reject(error: Error): void
  /** Waits for something that is not for the server to hurry, such as the user signing in. */
  pause<T>(work: T | Promise<T>): Promise<T>
}

/** Sends requests with the credentials of a principal. */
export interface RequestSender {
  /** The principal of these requests, so that cached results stay apart. */
  credentials(): Promise<string>
  /** Waits until another token is accepted than one that was refused in the background. */
  untilSignedIn(signal: AbortSignal): Promise<void>
}

/** Carries messages to one server. */
export interface Channel {
  /** What sends requests by Streamable HTTP, where headers repeat parts of messages. */
  readonly http?: RequestSender
  /** Whether the server ended the session, and no other has been opened. */
  readonly lost?: boolean
  /** Sends a request and sees to it that it gets its answer. Never throws. */
  request(call: Outgoing): void
  /** Sends what has no answer: a notification, or the response to a request of the server's. */
  send(message: JsonRpcNotification | JsonRpcResponse): Promise<void>
  /** Opens the stream for what the server sends on its own, where that takes a stream. */
  listen?(): void
  /** Ends the connection. */
  close(): Promise<void>
}

/** Receives what arrives on a {@link Channel}. */
export interface ChannelReceiver {
  /** The revision that is in use, or being tried. */
  readonly revision: RevisionFacts
  /** The param of a method that the `Mcp-Name` header repeats, if any. */
  nameParam(method: string): string | undefined
  /**
   * Receives parsed JSON, not validated yet. With `call` it came on the stream of that request, and
   * no other request can find its answer there.
   */
  receive(frame: unknown, call?: Outgoing): void
  /** Rejects a frame that cannot be read; the call that it was meant to answer fails. */
  refuse(frame: unknown, error: unknown): void
  /** Reports an error that no request fails with. */
  reportError(error: unknown): void
  /** A stream broke, and the next one does not bring what came in between. */
  gap(): void
  /** The server ended the session. */
  sessionEnded(): void
  /** Nothing more will arrive. */
  closed(reason?: Error): void
}
