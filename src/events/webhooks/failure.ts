/**
 * Classifies why a request to a webhook failed. Clients see the reason, so it must not contain anything that the
 * receiver sent.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { DeliveryFailure } from '../wire.ts'

/** Matches the error codes of TLS failures in Node, Deno and Bun. */
const TLS = /TLS|SSL|CERT|EPROTO|SIGNATURE|ISSUER/
/** Matches the error codes of timeouts. */
const TIMEOUT = /TIME/i
/** Matches the error codes of unreadable HTTP responses. */
const UNREADABLE = /HPE_|HTTP/

/** The error with which `fetch` rejects. Each runtime uses other members. */
interface NetworkError {
  readonly code?: unknown
  readonly name?: unknown
  readonly cause?: { readonly code?: unknown }
}

/** The reason for an error that `fetch` has thrown. */
export function networkFailure(error: unknown): DeliveryFailure {
  const networkError = error as NetworkError | undefined
  const text = [networkError?.code, networkError?.cause?.code, networkError?.name].join(' ')
  if (TIMEOUT.test(text)) return 'timeout'
  if (TLS.test(text)) return 'tls_error'
  if (UNREADABLE.test(text)) return 'http_5xx'
  return 'connection_refused'
}

/** The reason for a status other than 2xx; redirects count as 4xx. */
export function statusFailure(status: number): DeliveryFailure {
  return status >= 500 ? 'http_5xx' : 'http_4xx'
}
