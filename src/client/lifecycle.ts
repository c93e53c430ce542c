/**
 * The handshake of the revisions with sessions: `initialize`, then `notifications/initialized`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 */
import { McpError, ProtocolError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { RevisionFacts } from '../protocol/revisions.ts'
import { isObject } from '../protocol/validate.ts'
import type { Call } from './call.ts'
import type { Connection } from './connection.ts'
import { readInfo } from './discover.ts'
import type { RequestOptions } from './options.ts'
import { chooseVersion, mismatch, supportedBy } from './versions.ts'

/** How an attempt to open a session ended. */
export interface InitializeFailure {
  readonly error: unknown
  /** The HTTP status. */
  readonly status: number | undefined
}

/**
 * Opens a session, proposing `first`, and settles on the revision that the server answers.
 *
 * @returns Nothing, or how the server refused.
 * @throws {McpError} `VERSION_MISMATCH` when it answers with one that may not be spoken.
 */
export async function initialize(
  connection: Connection,
  allowed: readonly RevisionFacts[],
  options: RequestOptions,
  first: RevisionFacts | undefined = allowed[0],
): Promise<InitializeFailure | undefined> {
  if (!first) throw new McpError('INVALID_USE', 'No revision with sessions is allowed')
  connection.speak(first)
  const call = connection.start('initialize', initializeParams(connection, first), options)
  const outcome = await settle(call)
  if ('error' in outcome) {
    // Some servers refuse an unknown version with an error that lists theirs
    const { error } = outcome
    const other =
      error instanceof ProtocolError ? chooseVersion(allowed, supportedBy(error)) : undefined
    if (!other || other === first) return outcome
    return initialize(connection, [other], options)
  }
  const { protocolVersion, capabilities, instructions, serverInfo } = outcome.result
  if (typeof protocolVersion !== 'string' || !isObject(capabilities)) {
    const what = '"initialize" got a result that it cannot have'
    throw new McpError('INVALID_MESSAGE', what, { data: outcome.result })
  }
  const agreed = chooseVersion(allowed, [protocolVersion])
  if (!agreed) throw mismatch(allowed, [protocolVersion])
  connection.speak(agreed)
  connection.serverInfo = readInfo(serverInfo)
  connection.serverCapabilities = capabilities
  connection.instructions = typeof instructions === 'string' ? instructions : undefined
  await connection.notify('notifications/initialized')
  return undefined
}

async function settle(call: Call): Promise<{ result: JsonObject } | InitializeFailure> {
  try {
    return { result: await call.result }
  } catch (error) {
    return { error, status: call.status }
  }
}

function initializeParams(connection: Connection, revision: RevisionFacts): JsonObject {
  return {
    protocolVersion: revision.version,
    capabilities: connection.capabilities,
    clientInfo: connection.info,
  }
}
