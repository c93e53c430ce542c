/**
 * Documents that a host serves in addition to its endpoint.
 *
 * @see https://github.com/modelcontextprotocol/experimental-ext-server-card/blob/main/docs/discovery.md#hosted-server-card-location
 */
import type { Caller } from './request/exchange.ts'

/**
 * Serves public documents about a server, without authentication. Created by `cardHandler` of
 * `edgewise/cards`.
 */
export interface PublicDocuments {
  /** Answers a request for a document. Returns `undefined` if the request has another path. */
  (request: Request, caller?: Caller): Promise<Response> | undefined
  /** The paths of the documents, which a host must route to this handler. */
  readonly paths: readonly string[]
}
