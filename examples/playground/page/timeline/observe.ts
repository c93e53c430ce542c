/**
 * What the page learns from the requests of a client.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */

/** A response of the server. */
export interface Answer {
  readonly url: string
  /** The HTTP status. */
  readonly status: number
  readonly statusText: string
  readonly contentType: string
  /** The beginning of the body. */
  readonly text: string
  /** Whether the body is a message of the protocol. */
  readonly isMessage: boolean
}

/** Receives the events of a client's `fetch`. */
export interface ObserveHooks {
  /** Called with the id of the session, if the server created one. */
  onSession?(id: string): void
  /** Called when a request carried the user's credentials. */
  onSignedIn?(): void
  /** Called with every response. */
  onAnswer?(answer: Answer): void
}
