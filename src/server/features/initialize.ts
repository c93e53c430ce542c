/**
 * The handshake of revisions with sessions.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 */
import { degradeServerCapabilities } from '../../protocol/degrade.ts'
import { degradeImplementation } from '../../protocol/degrade-meta.ts'
import { findRevision, type RevisionFacts } from '../../protocol/revisions.ts'
import type { Implementation, InitializeResult, JsonObject } from '../../protocol/types.ts'
import { isImplementation, isObject } from '../../protocol/validate.ts'
import type { SessionRecord } from '../../session/session.ts'
import { isString, requireMember } from '../request/params.ts'
import { inferCapabilities, type RegisteredFeatures } from './discover.ts'

/** What the handshake reports about a server. */
interface InitializableServer extends RegisteredFeatures {
  readonly info: Implementation
  readonly instructions: string | undefined
  readonly revisions: readonly RevisionFacts[]
}

/**
 * Answers `initialize` with the requested version if it is supported, otherwise with the newest
 * supported one.
 *
 * @param server A server that supports at least one revision with sessions.
 * @param canPush Whether the server can send messages outside of responses.
 * @throws {ProtocolError} `INVALID_PARAMS` if a required member is missing.
 */
export function initialize(
  server: InitializableServer,
  params: JsonObject = {},
  canPush: boolean,
): { record: SessionRecord; result: InitializeResult } {
  const protocolVersion = requireMember(params, 'protocolVersion', isString)
  const capabilities = requireMember(params, 'capabilities', isObject)
  const clientInfo = requireMember(params, 'clientInfo', isImplementation)

  const revision = negotiateSession(server, protocolVersion)
  // Without what the client's revision does not define
  const result: InitializeResult = {
    protocolVersion: revision.version,
    capabilities: degradeServerCapabilities(inferCapabilities(server, canPush, 'legacy'), revision),
    serverInfo: degradeImplementation(server.info, revision),
  }
  if (server.instructions !== undefined) result.instructions = server.instructions
  const record: SessionRecord = {
    revision: revision.version,
    clientInfo,
    clientCapabilities: capabilities,
    initialized: false,
    subscriptions: [],
  }
  return { record, result }
}

/**
 * The revision of a session: the requested version if it is supported, otherwise the newest
 * supported one.
 */
export function negotiateSession(
  { revisions }: Pick<InitializableServer, 'revisions'>,
  requested: unknown,
): RevisionFacts {
  // Ordered from the newest to the oldest
  const legacy = revisions.filter(({ era }) => era === 'legacy')
  return legacy.find(({ version }) => version === requested) ?? (legacy[0] as RevisionFacts)
}

/** Finds the facts of a session's revision. */
export function sessionRevision({ revision }: SessionRecord): RevisionFacts {
  const facts = findRevision(revision)
  if (!facts) throw new TypeError(`The session has an unknown revision "${revision}"`)
  return facts
}
