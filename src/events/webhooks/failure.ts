/**
 * Why a request to a webhook failed, without anything that the receiver sent.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { DeliveryFailure } from '../wire.ts'

/** Codes of errors of TLS in Node, Deno and Bun. */
const TLS = /TLS|SSL|CERT|EPROTO|SIGNATURE|ISSUER/
/** Codes of errors of timeouts. */
const TIMEOUT = /TIME/i
/** Codes of errors for unreadable HTTP responses. */
const UNREADABLE = /HPE_|HTTP/

/** The reason for an error of the network. */
export function networkFailure(error: unknown): DeliveryFailure {
  const { code, name, cause } = (error ?? {}) as { code?: unknown; name?: unknown; cause?: unknown }
  const { code: innerCode } = (cause ?? {}) as { code?: unknown }
  const text = [code, innerCode, name].join(' ')
  if (TIMEOUT.test(text)) return 'timeout'
  if (TLS.test(text)) return 'tls_error'
  if (UNREADABLE.test(text)) return 'http_5xx'
  return 'connection_refused'
}

/** The reason for a status other than 2xx; redirects count as 4xx. */
export function statusFailure(status: number): DeliveryFailure {
  return status >= 500 ? 'http_5xx' : 'http_4xx'
}
