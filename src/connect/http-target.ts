/**
 * Connecting over HTTP: which transport an endpoint has, and which revision.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#backward-compatibility
 */
import { describeAttempts } from '../client/attempts.ts'
import type { Connection, ConnectionTarget } from '../client/connection.ts'
import { discover } from '../client/discover.ts'
import { initialize } from '../client/initialize.ts'
import type { VersionCache } from '../client/options.ts'
import { ServerMessages } from '../client/server-messages.ts'
import { isModernError } from '../client/versions.ts'
import { McpError, ProtocolError, statusOf, toErrorObject } from '../protocol/errors.ts'
import { StreamableHttpChannel } from '../transport/streamable-http/channel.ts'
import { applyDiscovery } from './stored-discovery.ts'

/** What endpoints speak, for clients that bring no cache of their own. */
const sharedVersions: VersionCache = new Map()

const LEGACY = 'legacy'
const FALLBACK = 'http-sse'

/** A server at a URL. */
export class HttpTarget implements ConnectionTarget {
  readonly url: string

  /** @throws {McpError} `INVALID_USE` when it is not an HTTP URL. */
  constructor(url: string | URL) {
    this.url = endpoint(String(url))
  }

  /** Connects, and asks no more than is not known yet. */
  async open(connection: Connection): Promise<void> {
    const { url } = this
    const { options, versions } = connection
    const cache = versionCacheOf(connection)
    await openStreamable(connection, url)
    if (applyDiscovery(connection)) return
    const known = versions.legacy.length > 0 ? cache.get(url) : undefined
    if (known === undefined) return connection.rediscover()
    try {
      if (known === FALLBACK) await this.#openFallback(connection)
      else await initialize(connection, options)
    } catch (error) {
      // Nobody is to be asked twice to sign in, and other errors than ours say nothing of the server
      const isOurs = error instanceof McpError || error instanceof ProtocolError
      if (options.signal?.aborted || !isOurs) throw error
      throwRefusal(error)
      // The server is not what it was
      connection.hook(() => cache.delete(url))
      await openStreamable(connection, url)
      await connection.rediscover()
    }
  }

  /** Finds out what answers at the URL. */
  async rediscover(connection: Connection): Promise<void> {
    const { url } = this
    const { signal } = connection.options
    const [modern] = connection.versions.modern
    const cache = versionCacheOf(connection)
    const evidence = await discover(connection, { signal })
    if (!evidence) return connection.hook(() => cache.delete(url))
    // Only a server that was asked for something newer has shown what it is
    const remember = (version: string): void => {
      if (modern) connection.hook(() => cache.set(url, version))
    }
    try {
      await initialize(connection, { signal }, evidence.first)
      remember(LEGACY)
    } catch (error) {
      const status = statusOf(error) ?? 0
      // A server of 2026-07-28 that has no discovery, though it must
      if (evidence.doubtful && modern && status > 0 && status < 500) {
        return connection.setRevision(modern)
      }
      if (isModernError(error) || ![400, 404, 405].includes(status)) throw error
      const before = [...connection.attempts]
      await this.#openFallback(connection).catch((cause: unknown) => {
        throwRefusal(cause)
        const attempts = describeAttempts([...before, { with: 'HTTP+SSE', error: cause }])
        const what = `"${url}" is not an MCP endpoint: ${attempts}`
        const data =
          error instanceof McpError ? error.data : { status, error: toErrorObject(error) }
        throw new McpError('HTTP', what, { cause: error, data })
      })
      remember(FALLBACK)
    }
  }

  /** Connects by HTTP+SSE, the transport of 2024-11-05, where the application has it. */
  async #openFallback(connection: Connection): Promise<void> {
    const { options } = connection
    const channel = options.fallback?.(this.url, options, new ServerMessages(connection))
    if (!channel) throw new McpError('UNSUPPORTED', 'not tried without "fallback: httpSse"')
    await connection.replaceChannel(channel)
    await initialize(connection, { signal: options.signal })
  }
}

/** The URL of an endpoint, where it is one. */
function endpoint(url: string): string {
  if (/^https?:/i.test(url) && URL.canParse(url)) return new URL(url).href
  const [isHost, isLocal] = /^(?=\w)(localhost|127\.)?[\w.-]*(?::\d+)?(?:\/|$)/.exec(url) ?? []
  const hint = isHost ? `; did you mean "http${isLocal ? '' : 's'}://${url}"?` : ''
  throw new McpError('INVALID_USE', `"${url}" is not an HTTP URL${hint}`)
}

function versionCacheOf({ options }: Connection): VersionCache {
  return options.versionCache ?? sharedVersions
}

async function openStreamable(connection: Connection, url: string): Promise<void> {
  const receiver = new ServerMessages(connection)
  await connection.replaceChannel(new StreamableHttpChannel(url, connection.options, receiver))
}

/** Throws what kept the client out, or what closed the connection for that: no transport helps. */
function throwRefusal(error: unknown): void {
  for (let one = error; one instanceof McpError; one = one.cause) {
    if (one.code === 'UNAUTHORIZED' || one.code === 'FORBIDDEN') throw one
  }
}
