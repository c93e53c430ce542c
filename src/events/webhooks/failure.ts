/**
 * Classifies why a request to a webhook failed. Clients see the reason, so it must not contain anything that the
 * receiver sent.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { DeliveryFailure } from '../wire.ts'

/** The error codes of TLS failures in Node, Deno and Bun. */
const TLS = /TLS|SSL|CERT|EPROTO|SIGNATURE|ISSUER/
/** The error codes of timeouts. */
const TIMEOUT = /TIME/i
/** The error codes of unreadable HTTP responses. */
const UNREADABLE = /HPE_|HTTP/

/** The members of the error with which `fetch` rejects, which differ by runtime. */
interface NetworkError {
  readonly code?: unknown
  readonly name?: unknown
  readonly cause?: { readonly code?: unknown }
}

/** The reason for an error that `fetch` has thrown. */
export function networkFailure(error: unknown): DeliveryFailure {
  const failure = error as NetworkError | undefined
  const text = [failure?.code, failure?.cause?.code, failure?.name].join(' ')
  if (TIMEOUT.test(text)) return 'timeout'
  if (TLS.test(text)) return 'tls_error'
  if (UNREADABLE.test(text)) return 'http_5xx'
  return 'connection_refused'
}

/** The reason for a status other than 2xx; redirects count as 4xx. */
export function statusFailure(status: number): DeliveryFailure {
  return status >= 500 ? 'http_5xx' : 'http_4xx'
}
