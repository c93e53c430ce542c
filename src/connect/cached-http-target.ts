/**
 * Remembers which versions endpoints support, so that newer revisions are not tried first on older
 * endpoints.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility-with-initialization-based-versions
 */
import type { Connection, ConnectionTarget } from '../client/connection.ts'
import { initialize } from '../client/initialize.ts'
import type { VersionCache } from '../client/options.ts'
import { createReceiver } from '../client/server-messages.ts'
import { SdkError, ProtocolError } from '../protocol/errors.ts'
import {
  ListeningChannel,
  type KeepStreamOpen,
} from '../transport/streamable-http/listening-channel.ts'
import { endpointUrl, negotiateHttp, openFallback, rethrowRejectedSignIn } from './http-target.ts'
import { loadOnDemand } from './load-on-demand.ts'
import { applyDiscovery } from './stored-discovery.ts'

/** A cached value: the endpoint does not support 2026-07-28, and uses Streamable HTTP. */
const STREAMABLE_HTTP = 'legacy'
/** A cached value: the endpoint does not support 2026-07-28, and uses HTTP+SSE. */
const HTTP_SSE = 'http-sse'

/** The cache of clients without the option `versionCache`. */
const sharedVersions: VersionCache = new Map()

/**
 * The target for a server at a URL. The server's version is determined only if it is not cached.
 *
 * @throws {SdkError} `INVALID_USE` if the endpoint is not an HTTP URL.
 */
export function cachedHttpTarget(
  endpoint: string | URL,
  cache: VersionCache = sharedVersions,
): ConnectionTarget {
  const url = endpointUrl(endpoint)
  return {
    url,
    async open(connection) {
      const { options, versions } = connection
      await openStreamable(connection, url)
      if (applyDiscovery(connection)) return
      const cachedTransport = versions.legacy.length > 0 ? cache.get(url) : undefined
      if (cachedTransport === undefined) return connection.negotiate()
      try {
        if (cachedTransport === HTTP_SSE) await openFallback(connection, url)
        else await initialize(connection, { signal: options.signal })
      } catch (error) {
        // An error of the application says nothing about the server, so it is thrown
        const isFromSdk = error instanceof SdkError || error instanceof ProtocolError
        if (options.signal?.aborted || !isFromSdk) throw error
        // The user is never asked a second time to sign in
        rethrowRejectedSignIn(error)
        // The cached transport no longer works, because the server has changed
        connection.runHook(() => cache.delete(url))
        await openStreamable(connection, url)
        await connection.negotiate()
      }
    },
    async negotiate(connection) {
      await negotiateHttp(connection, url)
      const { channel, revision, versions } = connection
      const legacyTransport = channel.http ? STREAMABLE_HTTP : HTTP_SSE
      connection.runHook(() => {
        // A client that supports only older revisions has not tried newer ones, so it caches nothing
        if (revision.era === 'modern') cache.delete(url)
        else if (versions.modern[0]) cache.set(url, legacyTransport)
      })
    },
  }
}

/** Opens a Streamable HTTP channel that can listen. */
function openStreamable(connection: Connection, url: string): Promise<void> {
  const keepStreamOpen: KeepStreamOpen = async (channel, signal) => {
    const onMissedChanges = (): void => connection.changes?.announceAll()
    return (await loadOnDemand()).keepStreamOpen(channel, signal, onMissedChanges)
  }
  const channel = new ListeningChannel(
    url,
    connection.options,
    createReceiver(connection),
    keepStreamOpen,
  )
  return connection.replaceChannel(channel)
}
