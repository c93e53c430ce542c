/**
 * Connects over a transport: stdio, a message port, memory.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility-with-initialization-based-versions
 */
import type { Connection, ConnectionTarget } from '../client/connection.ts'
import { discover } from '../client/discover.ts'
import { initialize, propose } from '../client/initialize.ts'
import { isModernError, mayBeVersionError } from '../client/versions.ts'
import { abortable, sleep } from '../patterns/abort.ts'
import { isTransient } from '../patterns/transient.ts'
import { ProtocolError, type SdkError } from '../protocol/errors.ts'
import type { Transport } from '../protocol/transport.ts'
import { openDuplex } from './open-duplex.ts'
import { applyDiscovery } from './stored-discovery.ts'

/**
 * How long to wait for the response to `server/discover` once the response to `initialize` has arrived,
 * in milliseconds.
 */
const GRACE_MS = 100

/**
 * The target for a server at the other end of a transport.
 *
 * @param probeTimeoutMs How long the server may take to answer `server/discover`.
 */
export function transportTarget(transport: Transport, probeTimeoutMs = 5_000): ConnectionTarget {
  return {
    open: (connection) => open(connection, transport, probeTimeoutMs),
    // `open` has already determined the revision
    negotiate: () => Promise.resolve(),
  }
}

/**
 * Connects. A server that does not answer `server/discover` in time may use sessions, or may be slow to
 * start. The client therefore sends `initialize` too, and decides by the responses.
 */
async function open(
  connection: Connection,
  transport: Transport,
  probeTimeoutMs: number,
): Promise<void> {
  const { signal } = connection.options
  await openDuplex(connection, transport)
  if (applyDiscovery(connection)) return
  try {
    // If the server can be restarted, revisions that it does not list are tried only after a restart
    await probe(connection, probeTimeoutMs, !transport.restart)
  } catch (error) {
    // Some older servers exit on an unknown first message, or answer it and then reject `initialize`
    const { modern, legacy } = connection.versions
    const mayBeOld = (error as SdkError).code === 'CLOSED' || mayBeVersionError(error)
    if (!transport.restart || !mayBeOld || !modern[0] || !legacy[0] || signal?.aborted) throw error
    connection.reopen()
    await transport.restart()
    await initialize(connection, { signal })
  }
}

/**
 * Determines the server's revision and applies it.
 *
 * @param mayTryUnlisted Whether to try other revisions with a server that lists none.
 */
async function probe(
  connection: Connection,
  probeTimeoutMs: number,
  mayTryUnlisted: boolean,
): Promise<void> {
  const { signal } = connection.options
  /** Aborts when the revision is known, or none can be found. */
  const settled = new AbortController()
  /** Set when `initialize` is sent. Resolves with the function that accepts the session. */
  let proposal: Promise<() => Promise<void>> | undefined
  const proposeLater = async (): Promise<() => Promise<void>> => {
    await sleep(probeTimeoutMs, settled.signal)
    proposal = propose(connection, { signal }, mayTryUnlisted)
    // A server may answer `initialize` first, although `server/discover` was sent before it
    await proposal.catch(() => {})
    await sleep(GRACE_MS, settled.signal)
    return proposal
  }
  const discovery = discover(connection, { signal: settled.signal }, isLegacy)
  const outcome = await abortable(Promise.race([discovery, proposeLater()]), signal).finally(() =>
    settled.abort(),
  )
  // Discovery has applied a revision
  if (!outcome) return
  // The server has opened a session, which the client has to accept
  if (typeof outcome === 'function') return outcome()
  // The server does not support `server/discover`, so the client has to open a session
  const accept = await (proposal ??
    propose(connection, { signal }, mayTryUnlisted, outcome.version))
  await accept()
}

/** Whether a failure shows that a server does not support 2026-07-28. */
function isLegacy(error: unknown): boolean {
  const { code } = error as SdkError
  // A transient error, such as a rate limit, says nothing about the revision
  if (error instanceof ProtocolError) return !isModernError(error) && !isTransient(error)
  // There was no response, or the response was not a result of `server/discover`
  return code === 'TIMEOUT' || code === 'UNSUPPORTED'
}
