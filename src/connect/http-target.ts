/**
 * Connects over HTTP: determines the transport and the revision of an endpoint.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#backward-compatibility
 */
import { describeAttempts } from '../client/attempts.ts'
import type { Connection, ConnectionTarget } from '../client/connection.ts'
import { discover, isLegacyOverHttp } from '../client/discover.ts'
import { initialize } from '../client/initialize.ts'
import { createReceiver } from '../client/server-messages.ts'
import { isModernError } from '../client/versions.ts'
import { SdkError, statusOf, toErrorObject } from '../protocol/errors.ts'
import { StreamableHttpChannel } from '../transport/streamable-http/channel.ts'
import { applyDiscovery } from './stored-discovery.ts'
import { parseUrl } from '../patterns/url.ts'

/**
 * The target for a server at a URL.
 *
 * @throws {SdkError} `INVALID_USE` if the endpoint is not an HTTP URL.
 */
export function httpTarget(endpoint: string | URL): ConnectionTarget {
  const url = endpointUrl(endpoint)
  return {
    url,
    async open(connection) {
      const { options } = connection
      const channel = new StreamableHttpChannel(url, options, createReceiver(connection))
      await connection.replaceChannel(channel)
      if (!applyDiscovery(connection)) await connection.negotiate()
    },
    negotiate: (connection) => negotiateHttp(connection, url),
  }
}

/** Determines the transport and the revisions that a URL supports, and negotiates a revision. */
export async function negotiateHttp(connection: Connection, url: string): Promise<void> {
  const { signal } = connection.options
  const [modernRevision] = connection.versions.modern
  const evidence = await discover(connection, { signal }, isLegacyOverHttp)
  if (!evidence) return
  try {
    await initialize(connection, { signal }, evidence.version)
  } catch (error) {
    const status = statusOf(error) ?? 0
    // A server that may be modern and rejects `initialize` uses 2026-07-28, but lacks `server/discover`
    if (evidence.mayBeModern && modernRevision && status > 0 && status < 500) {
      return connection.setRevision(modernRevision)
    }
    // Endpoints of HTTP+SSE reject POST requests with one of these statuses
    if (isModernError(error) || ![400, 404, 405].includes(status)) throw error
    const earlierAttempts = describeAttempts(connection.attempts)
    await openFallback(connection, url).catch((cause: Error) => {
      rethrowRejectedSignIn(cause)
      const attempts = `${earlierAttempts}; HTTP+SSE: ${cause.message}`
      const message = `"${url}" is not an MCP endpoint: ${attempts}`
      const data = error instanceof SdkError ? error.data : { status, error: toErrorObject(error) }
      throw new SdkError('HTTP', message, { cause: error, data })
    })
  }
}

/** Connects over HTTP+SSE, the transport of 2024-11-05, if the option `fallback` provides it. */
export async function openFallback(connection: Connection, url: string): Promise<void> {
  const { options } = connection
  const { fallback } = options
  if (!fallback) throw new SdkError('UNSUPPORTED', 'not tried without "fallback: httpSse"')
  await connection.replaceChannel(await fallback(url, options, createReceiver(connection)))
  await initialize(connection, { signal: options.signal })
}

/**
 * Returns the URL of an endpoint.
 *
 * @throws {SdkError} `INVALID_USE` if the endpoint is not an HTTP URL.
 */
export function endpointUrl(endpoint: string | URL): string {
  const url = String(endpoint)
  const parsed = /^https?:/i.test(url) ? parseUrl(url) : undefined
  if (parsed) return parsed.href
  // A host with an optional port and path, but without a scheme, such as `localhost:8000/mcp`
  const [host, localHost] = /^(?=\w)(localhost|127\.)?[\w.-]*(?::\d+)?(?:\/|$)/.exec(url) ?? []
  const hint = host ? `; did you mean "http${localHost ? '' : 's'}://${url}"?` : ''
  throw new SdkError('INVALID_USE', `"${url}" is not an HTTP URL${hint}`)
}

/**
 * Throws the error of a rejected sign-in, if the error is one or is caused by one. Trying another transport
 * would not help then.
 */
export function rethrowRejectedSignIn(error: unknown): void {
  for (let cause = error; cause instanceof SdkError; cause = cause.cause) {
    if (cause.code === 'UNAUTHORIZED' || cause.code === 'FORBIDDEN') throw cause
  }
}
