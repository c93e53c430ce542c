/**
 * Opening a connection: by which transport, to which kind of server, in which revision.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility-with-initialization-based-versions
 */
import { statusOf } from '../patterns/transient.ts'
import { McpError, ProtocolError, toErrorObject } from '../protocol/errors.ts'
import { StreamableHttpChannel } from '../transport/streamable-http/channel.ts'
import { requireTransport, type Transport } from '../protocol/transport.ts'
import { describeAttempts, explainAttempts } from '../client/attempts.ts'
import type { Connection } from '../client/connection.ts'
import { discover } from '../client/discover.ts'
import { DuplexChannel } from '../client/duplex-channel.ts'
import { abortable, sleep } from '../patterns/abort.ts'
import { initialize, propose } from '../client/initialize.ts'
import type { EraCache } from '../client/options.ts'
import { request } from '../client/request.ts'
import { isModernError, mayRefuseVersion } from '../client/versions.ts'

/** What endpoints are, for clients that bring no map of their own. */
const sharedEras: EraCache = new Map()

/** How long the answer to the first question may come after that to the second, in milliseconds. */
const GRACE_MS = 100
const LEGACY = 'legacy'
const HTTP_SSE = 'http-sse'

/**
 * Opens a connection to a URL or over a transport; one that fails is closed.
 *
 * @throws {McpError | ProtocolError} as {@link connect}.
 */
export async function open(
  connection: Connection,
  target: string | URL | Transport,
): Promise<void> {
  try {
    if (typeof target === 'string' || target instanceof URL) {
      await openHttp(connection, endpoint(target))
    } else await openTransport(connection, requireTransport(target))
  } catch (error) {
    await connection.close().catch(() => {})
    explainAttempts(error, connection.attempts)
    throw error
  }
}

/** The URL of an endpoint, where it is one. */
function endpoint(target: string | URL): string {
  const url = String(target)
  if (/^https?:/i.test(url) && URL.canParse(url)) return new URL(url).href
  const [isHost, isLocal] = /^(?=\w)(localhost|127\.)?[\w.-]*(?::\d+)?(?:\/|$)/.exec(url) ?? []
  const hint = isHost ? `; did you mean "http${isLocal ? '' : 's'}://${url}"?` : ''
  throw new McpError('INVALID_USE', `"${url}" is not an HTTP URL${hint}`)
}

/** Connects over HTTP, and asks no more than is not known yet. */
async function openHttp(connection: Connection, url: string): Promise<void> {
  const { options, versions } = connection
  const { eras = sharedEras } = options
  const openChannel = (): void => {
    connection.channel = new StreamableHttpChannel(url, options, connection)
  }
  connection.url = url
  connection.find = () => findHttp(connection, url, eras)
  connection.restore = restorer(connection)
  openChannel()
  if (recall(connection)) return
  const known = versions.legacy.length > 0 ? eras.get(url) : undefined
  if (known === undefined) return connection.find()
  try {
    if (known === HTTP_SSE) await openHttpSse(connection, url)
    else await initialize(connection, options)
  } catch (error) {
    // Nobody is to be asked twice to sign in, and other errors than ours say nothing of the server
    const isOurs = error instanceof McpError || error instanceof ProtocolError
    if (options.signal?.aborted || !isOurs) throw error
    throwRefusal(error)
    // The server is not what it was
    connection.hook(() => eras.delete(url))
    await connection.channel.close()
    connection.reopened()
    openChannel()
    await connection.find()
  }
}

/** Finds out what answers at a URL. */
async function findHttp(connection: Connection, url: string, eras: EraCache): Promise<void> {
  const { signal } = connection.options
  const { modern } = connection.versions
  connection.proven = true
  connection.attempts = []
  const evidence = await discover(connection, { signal })
  if (!evidence) return connection.hook(() => eras.delete(url))
  // Only a server that was asked for something newer has shown what it is
  const remember = (era: string): void => {
    if (modern[0]) connection.hook(() => eras.set(url, era))
  }
  try {
    await initialize(connection, { signal }, evidence.first)
    remember(LEGACY)
  } catch (error) {
    const status = statusOf(error) ?? 0
    // A server of 2026-07-28 that has no discovery, though it must
    if (evidence.doubtful && modern[0] && status > 0 && status < 500) {
      return connection.speak(modern[0])
    }
    if (isModernError(error) || ![400, 404, 405].includes(status)) throw error
    const before = [...connection.attempts]
    await openHttpSse(connection, url).catch((cause: unknown) => {
      throwRefusal(cause)
      const attempts = describeAttempts([...before, { with: 'HTTP+SSE', error: cause }])
      const what = `"${url}" is not an MCP endpoint: ${attempts}`
      const data = error instanceof McpError ? error.data : { status, error: toErrorObject(error) }
      throw new McpError('HTTP', what, { cause: error, data })
    })
    remember(HTTP_SSE)
  }
}

/** Throws what kept the client out, or what closed the connection for that: no transport helps. */
function throwRefusal(error: unknown): void {
  for (let one = error; one instanceof McpError; one = one.cause) {
    if (one.code === 'UNAUTHORIZED' || one.code === 'FORBIDDEN') throw one
  }
}

/** Connects to a server of 2024-11-05 over its two endpoints. */
async function openHttpSse(connection: Connection, url: string): Promise<void> {
  const { options, createHttpSse } = connection
  if (!createHttpSse) throw new McpError('UNSUPPORTED', 'This client lacks it: use "connect"')
  await start(connection, createHttpSse(url, options))
  await initialize(connection, { signal: options.signal })
}

/**
 * Connects over a transport. A server that does not say what it is may have sessions, or be slow to
 * start: it is asked for a session too, and what it answers decides.
 */
async function openTransport(connection: Connection, transport: Transport): Promise<void> {
  const { signal } = connection.options
  await start(connection, transport)
  if (recall(connection)) return
  try {
    await probe(connection, !transport.restart)
  } catch (error) {
    // Some old servers die of a first message that they do not know, or refuse a session after it
    const { modern, legacy } = connection.versions
    const mayBegin = (error as McpError).code === 'CLOSED' || mayRefuseVersion(error)
    if (!transport.restart || !mayBegin || !modern[0] || !legacy[0] || signal?.aborted) throw error
    connection.reopened()
    await transport.restart()
    await initialize(connection, { signal })
  }
}

/** Asks a server what it is, and settles on that. */
async function probe(connection: Connection, mayGuess: boolean): Promise<void> {
  const { probeTimeoutMs = 5_000, signal } = connection.options
  const found = new AbortController()
  let session: Promise<() => Promise<void>> | undefined
  const slow = async (): Promise<() => Promise<void>> => {
    await sleep(probeTimeoutMs, found.signal)
    session = propose(connection, { signal }, mayGuess)
    // Not everyone who answers both does so in order
    await session.catch(() => {})
    await sleep(GRACE_MS, found.signal)
    return session
  }
  const discovery = discover(connection, { signal: found.signal })
  const first = await abortable(Promise.race([discovery, slow()]), signal).finally(() =>
    found.abort(),
  )
  if (!first) return
  if (typeof first === 'function') return first()
  const take = await (session ?? propose(connection, { signal }, mayGuess, first.first))
  await take()
}

async function start(connection: Connection, transport: Transport): Promise<void> {
  const channel = new DuplexChannel(transport, connection)
  connection.channel = channel
  await abortable(Promise.resolve(transport.start(channel)), connection.options.signal)
}

/** Takes what an earlier connection found for true. */
function recall(connection: Connection): boolean {
  const { discovered } = connection.options
  const facts = connection.versions.modern.find((one) => one.version === discovered?.revision)
  if (discovered && facts) connection.meet(facts, discovered)
  return facts !== undefined
}

/** Opens one new session however many requests find the old one ended. */
function restorer(connection: Connection): () => Promise<void> {
  let restoring: Promise<void> | undefined
  const restore = async (): Promise<void> => {
    connection.attempts = []
    try {
      await initialize(connection, {})
      const { logLevel, listening } = connection
      if (logLevel) await request(connection, 'logging/setLevel', { level: logLevel })
      await listening?.restore()
    } catch (cause) {
      throw new McpError('SESSION_LOST', 'The server ended the session', { cause })
    } finally {
      restoring = undefined
    }
  }
  return async () => {
    if (connection.channel.lost) await (restoring ??= restore())
  }
}
