/**
 * Connecting: by which transport, to which kind of server, in which revision.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility
 */
import { McpError, ProtocolError } from '../protocol/errors.ts'
import type { RevisionFacts } from '../protocol/revisions.ts'
import { HttpSseTransport } from '../transport/http-sse-client.ts'
import { StreamableHttpChannel } from '../transport/streamable-http/client.ts'
import type { Transport } from '../transport/transport.ts'
import { Client } from './client.ts'
import { Connection } from './connection.ts'
import { isLegacyEvidence, probe, type Finding } from './discover.ts'
import { DuplexChannel } from './duplex.ts'
import { initialize, type InitializeFailure } from './lifecycle.ts'
import type { ConnectOptions, EraCache, RequestOptions } from './options.ts'
import { allowedVersions, isModernError, mismatch, type Versions } from './versions.ts'

/** What endpoints are, for clients that bring no map of their own. */
const sharedEras: EraCache = new Map()

const LEGACY = 'legacy'
const HTTP_SSE = 'http-sse'

/**
 * Connects to a server.
 *
 * @param target The URL of an endpoint, or a transport: stdio, a message port, memory.
 * @throws {McpError} `VERSION_MISMATCH`, `NETWORK`, `TIMEOUT`, `UNAUTHORIZED`, `HTTP`, `CLOSED`.
 * @throws {ProtocolError} What the server answered to the handshake.
 */
export async function connect(
  target: string | URL | Transport,
  options: ConnectOptions = {},
): Promise<Client> {
  const connection = new Connection(options)
  const opening = new Opening(connection, options)
  const client = new Client(connection)
  try {
    if (typeof target === 'string' || target instanceof URL)
      await opening.http(new URL(target).href)
    else await opening.duplex(target)
    client.ready()
  } catch (error) {
    await connection.close()
    throw error
  }
  return client
}

/** The steps of connecting one client. */
class Opening {
  readonly #connection: Connection
  readonly #versions: Versions
  readonly #options: ConnectOptions
  readonly #request: RequestOptions
  readonly #eras: EraCache

  constructor(connection: Connection, options: ConnectOptions) {
    this.#connection = connection
    this.#versions = allowedVersions(options)
    this.#options = options
    this.#request = { signal: options.signal }
    this.#eras = options.eras ?? sharedEras
  }

  /** Connects over HTTP (section "Streamable HTTP" of the compatibility rules). */
  async http(url: string): Promise<void> {
    const connection = this.#connection
    connection.url = url
    const { timeoutMs = 60_000 } = this.#options
    const options = { ...this.#options, timeoutMs }
    connection.channel = new StreamableHttpChannel(url, options, connection)
    if (this.#remembered(url)) return
    const known = this.#versions.legacy.length > 0 ? this.#eras.get(url) : undefined
    if (known === HTTP_SSE) return this.#httpSse(url)
    if (known === LEGACY) {
      const failure = await this.#initialize()
      if (!failure) return
      // The server is not what it was
      this.#eras.delete(url)
      if (!isEraEvidence(failure)) throw failure.error
    }
    await this.#find(url)
  }

  /** Finds out what answers at a URL. */
  async #find(url: string): Promise<void> {
    const finding = await probe(this.#connection, this.#versions, this.#request)
    if (finding.era === 'modern') return
    const failure = await this.#legacy(finding)
    if (!failure) {
      this.#eras.set(url, LEGACY)
      return
    }
    const { error, status } = failure
    if (finding.doubtful && isRefusal(failure)) return this.#undiscovered()
    const modern = error instanceof ProtocolError && isModernError(error.code)
    if (modern || ![400, 404, 405].includes(status ?? 0)) throw error
    try {
      await this.#httpSse(url)
    } catch (cause) {
      const why = error instanceof Error ? error.message : ''
      const data = error instanceof McpError ? error.data : { status, error }
      throw new McpError('HTTP', `"${url}" is no MCP endpoint: ${why}`, { cause, data })
    }
    this.#eras.set(url, HTTP_SSE)
  }

  /** Opens a session with a server that has them. */
  #legacy(finding: Extract<Finding, { era: 'legacy' }>): Promise<InitializeFailure | undefined> {
    const { legacy, modern } = this.#versions
    if (legacy.length === 0) throw mismatch(modern, 'an earlier revision', finding.error)
    return this.#initialize(finding.first)
  }

  async #initialize(first?: RevisionFacts): Promise<InitializeFailure | undefined> {
    const failure = await initialize(this.#connection, this.#versions.legacy, this.#request, first)
    if (!failure) this.#connection.restore = this.#restorer()
    return failure
  }

  /** Opens one new session however many requests find the old one ended. */
  #restorer(): () => Promise<void> {
    const connection = this.#connection
    let restoring: Promise<void> | undefined
    const restore = async (): Promise<void> => {
      const failure = await initialize(connection, this.#versions.legacy, {})
      if (!failure) return connection.restored?.()
      const cause = failure.error
      throw new McpError('SESSION_LOST', 'The session ended and no other could be opened', {
        cause,
      })
    }
    return async () => {
      if (!connection.channel.lost) return
      restoring ??= restore().finally(() => {
        restoring = undefined
      })
      await restoring
    }
  }

  /** Connects to a server of 2024-11-05 over its two endpoints. */
  async #httpSse(url: string): Promise<void> {
    const { timeoutMs = 60_000 } = this.#options
    const transport = new HttpSseTransport(url, { ...this.#options, timeoutMs })
    const channel = new DuplexChannel(transport, this.#connection)
    this.#connection.channel = channel
    await channel.start()
    const failure = await this.#initialize()
    if (failure) throw failure.error
  }

  /** Goes on with a server of 2026-07-28 that has no `server/discover`, though it must. */
  #undiscovered(): void {
    const [newest] = this.#versions.modern
    if (newest) this.#connection.speak(newest)
  }

  /** Takes what an earlier connection found for true, until a failure says otherwise. */
  #remembered(url: string): boolean {
    const { discovered } = this.#options
    const facts = this.#versions.modern.find((one) => one.version === discovered?.revision)
    if (!discovered || !facts) return false
    const connection = this.#connection
    connection.speak(facts)
    connection.serverCapabilities = discovered.capabilities
    connection.serverInfo = discovered.serverInfo
    connection.instructions = discovered.instructions
    connection.reprobe = async (error, status) => {
      if (!isLegacyEvidence(error, status, true) || status === 200) return false
      connection.reprobe = undefined
      await this.#find(url)
      return true
    }
    return true
  }

  /** Connects over a transport (section "stdio" of the compatibility rules). */
  async duplex(transport: Transport): Promise<void> {
    await this.#start(transport)
    if (this.#options.discovered && this.#remembered('')) {
      this.#connection.reprobe = undefined
      return
    }
    const { probeTimeoutMs = 5_000, signal } = this.#options
    let finding: Finding
    try {
      finding = await probe(this.#connection, this.#versions, { signal, timeoutMs: probeTimeoutMs })
    } catch (error) {
      // Some old servers die of a first message that they do not know
      const died = error instanceof McpError && error.code === 'CLOSED'
      if (!died || !transport.restart || this.#versions.legacy.length === 0) throw error
      this.#connection.reopened()
      await transport.restart()
      finding = { era: 'legacy', error }
    }
    if (finding.era === 'modern') return
    const failure = await this.#legacy(finding)
    if (failure) throw failure.error
  }

  async #start(transport: Transport): Promise<void> {
    const channel = new DuplexChannel(transport, this.#connection)
    this.#connection.channel = channel
    await channel.start()
  }
}

function isEraEvidence({ error, status }: InitializeFailure): boolean {
  return (
    (error instanceof ProtocolError && isModernError(error.code)) ||
    [400, 404, 405].includes(status ?? 0)
  )
}

function isRefusal({ error, status }: InitializeFailure): boolean {
  return error instanceof ProtocolError || (status !== undefined && status >= 400 && status < 500)
}
