/**
 * What a client can be told about HTTP: how requests are sent, and how they are authorized.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import type { JsonObject } from './jsonrpc.ts'

/** Options that matter over HTTP only. */
export interface HttpOptions {
  /** Sends requests. Default: the global `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** Headers for every request, or a function that gives them. Headers of the protocol win. */
  readonly headers?: Headers | Record<string, string> | (() => HeaderRecord | Promise<HeaderRecord>)
  /** Signs requests in. */
  readonly auth?: AuthProvider
  /** The largest message taken, in UTF-16 units of its text. Default: 16 Mi. */
  readonly maxMessageLength?: number
}

/** Header names and their values. */
export type HeaderRecord = Headers | Record<string, string>

/** Signs the requests of one server in. */
export interface AuthProvider {
  /** The extensions of the protocol that its way of signing in is; the client declares them. */
  readonly extensions?: { readonly [id: string]: JsonObject }
  /** The headers for a request about to be sent, such as `Authorization`. */
  headers(request: HttpRequestFacts): HeaderRecord | Promise<HeaderRecord>
  /**
   * Learns of a 401 or a 403 with a challenge; says whether to send the request again. Asked at
   * most three times for one request.
   */
  challenged(response: Response, request: HttpRequestFacts): boolean | Promise<boolean>
  /** Learns of every other response, as soon as its headers are there; leaves the body alone. */
  accepted?(response: Response, request: HttpRequestFacts): void
}

/** The HTTP request that a token is for; one object for each that is sent. */
export interface HttpRequestFacts {
  readonly url: string
  readonly method: string
  /** The URL that was connected to. `url` may be another one of the same origin. */
  readonly server: string
  /**
   * Whether nobody asked for it, such as the reopening of a stream: a user must not be asked to sign
   * in because of it.
   */
  background?: boolean | undefined
}
