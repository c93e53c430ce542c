/**
 * Connecting over a transport: stdio, a message port, memory.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility-with-initialization-based-versions
 */
import type { Connection, ConnectionTarget } from '../client/connection.ts'
import { discover } from '../client/discover.ts'
import { initialize, propose } from '../client/initialize.ts'
import { mayRefuseVersion } from '../client/versions.ts'
import { abortable, sleep } from '../patterns/abort.ts'
import type { McpError } from '../protocol/errors.ts'
import type { Transport } from '../protocol/transport.ts'
import { openDuplex } from './duplex-channel.ts'
import { applyDiscovery } from './stored-discovery.ts'

/** How long the answer to the first question may come after that to the second, in milliseconds. */
const GRACE_MS = 100

/**
 * A server at the other end of a transport.
 *
 * @param probeTimeoutMs How long the server may think about `server/discover`.
 */
export function transportTarget(transport: Transport, probeTimeoutMs = 5_000): ConnectionTarget {
  return {
    open: (connection) => open(connection, transport, probeTimeoutMs),
    // Whatever is at the other end has answered already
    negotiate: () => Promise.resolve(),
  }
}

/**
 * Connects. A server that does not say what it is may have sessions, or be slow to start: it is asked
 * for a session too, and what it answers decides.
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
    await probe(connection, probeTimeoutMs, !transport.restart)
  } catch (error) {
    // Some old servers die of a first message that they do not know, or refuse a session after it
    const { modern, legacy } = connection.versions
    const mayBegin = (error as McpError).code === 'CLOSED' || mayRefuseVersion(error)
    if (!transport.restart || !mayBegin || !modern[0] || !legacy[0] || signal?.aborted) throw error
    connection.reopen()
    await transport.restart()
    await initialize(connection, { signal })
  }
}

/** Asks a server what it is, and settles on that. */
async function probe(
  connection: Connection,
  probeTimeoutMs: number,
  mayGuess: boolean,
): Promise<void> {
  const { signal } = connection.options
  const found = new AbortController()
  let session: Promise<() => Promise<void>> | undefined
  const proposeLater = async (): Promise<() => Promise<void>> => {
    await sleep(probeTimeoutMs, found.signal)
    session = propose(connection, { signal }, mayGuess)
    // Not everyone who answers both does so in order
    await session.catch(() => {})
    await sleep(GRACE_MS, found.signal)
    return session
  }
  const discovery = discover(connection, { signal: found.signal })
  const winner = await abortable(Promise.race([discovery, proposeLater()]), signal).finally(() =>
    found.abort(),
  )
  // Discovery has settled on a revision, the server gave a session, or it has to be asked for one
  if (!winner) return
  if (typeof winner === 'function') return winner()
  const accept = await (session ?? propose(connection, { signal }, mayGuess, winner.propose))
  await accept()
}
