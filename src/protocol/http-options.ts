/**
 * The HTTP options of a client: how requests are sent and authorized.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import type { JsonObject } from './types.ts'

/** Options that apply only over HTTP. */
export interface HttpOptions {
  /**
   * Sends requests.
   *
   * @default fetch
   */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  /**
   * Headers for every request, or a function that returns them. The protocol's own headers take precedence.
   */
  readonly headers?: Headers | Record<string, string> | (() => HeaderRecord | Promise<HeaderRecord>)
  /** Authorizes requests. */
  readonly auth?: AuthProvider
  /**
   * The maximum length of a received message, in UTF-16 units of its text.
   *
   * @default 16777216
   */
  readonly maxMessageLength?: number
}

/** Header names and their values. */
export type HeaderRecord = Headers | Record<string, string>

/**
 * Authorizes the requests to one server.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 */
export interface AuthProvider {
  /** The protocol extensions for authorization that the provider implements. The client declares them. */
  readonly extensions?: { readonly [id: string]: JsonObject }
  /** The headers for a request about to be sent, such as `Authorization`. */
  headers(request: HttpRequestFacts): HeaderRecord | Promise<HeaderRecord>
  /**
   * Handles a 401, or a 403 with a challenge. Returns whether to send the request again. Called at most
   * three times per request.
   */
  onChallenge(response: Response, request: HttpRequestFacts): boolean | Promise<boolean>
  /**
   * Called for every response that is not a challenge, whatever its status, as soon as its headers arrive.
   * The callback must not read the body.
   */
  onResponse?(response: Response, request: HttpRequestFacts): void
}

/**
 * Describes one HTTP request. A repeated request is described by a new object, so that the object can be a key.
 */
export interface HttpRequestFacts {
  readonly url: string
  readonly method: string
  /** The URL that the client connected to. `url` may be a different URL of the same origin. */
  readonly server: string
  /**
   * Whether the user did not initiate the request. Such a request, for example one that reopens a stream, must
   * not prompt the user to sign in.
   */
  background?: boolean | undefined
}
