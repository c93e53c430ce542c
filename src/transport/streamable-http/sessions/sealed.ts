/**
 * Sessions without a store. The session id contains the encrypted parameters of the session, so that
 * all instances with the same secret can serve the session.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import { requireKnown, type OptionNames } from '../../../patterns/known-options.ts'
import { createSealer, type Sealer, type Secrets } from '../../../patterns/sealed-state.ts'
import { ProtocolError } from '../../../protocol/errors.ts'
import { INVALID_PARAMS } from '../../../protocol/error-codes.ts'
import { isObject } from '../../../protocol/validate.ts'
import type { SessionRecord } from '../../../session/session.ts'
import { sessionRevision } from '../../../server/features/initialize.ts'
import { sessionNotFound } from '../../http/http-error.ts'
import {
  answerInitialize,
  requireRevision,
  requireSessionId,
  type SessionProvider,
} from './manager.ts'
import { UnstoredSession } from './none.ts'

/** Options of {@link sealedSessions}. */
export interface SealedSessionOptions {
  /**
   * Secrets of at least 16 characters for session ids. The first secret encrypts, and all secrets can
   * decrypt. All instances need the same secrets. By default a secret is generated, so that only this
   * instance can serve the sessions.
   */
  secrets?: Secrets
  /**
   * The lifetime of a session, in milliseconds. Afterwards, the client must start a new session.
   *
   * @default 86400000
   */
  ttlMs?: number
}

/** The names of the options. The values have no meaning. */
const OPTION_NAMES: OptionNames<SealedSessionOptions> = { secrets: 1, ttlMs: 1 }

/** The maximum size of the state in a session id, before encryption. */
const MAX_STATE_BYTES = 3000
/** The maximum length of a session id. Servers and proxies reject much longer headers. */
const MAX_ID_CHARACTERS = 4096
/** Distinguishes session ids from other encrypted state, such as a `requestState`. */
const KIND = 'session'
/** Whether the server can send messages outside of responses. */
const CAN_PUSH = false

/**
 * Serves sessions of the revisions up to 2025-11-25 without storage. Pass the result as the option
 * `sessions` of `createHandler`. Every instance can serve every session, and handlers know the client and
 * its capabilities.
 *
 * The server cannot send requests to the client, and cannot send notifications outside of responses. Features that need
 * such messages fail immediately. A client cannot end a session before it expires.
 *
 * @example
 * ```ts
 * import { createHandler, createServer, sealedSessions } from 'edgewise/server'
 *
 * const server = createServer({ name: 'travel', version: '1.0.0' })
 * export const createTravelHandler = (secret: string) =>
 *   createHandler(server, { sessions: sealedSessions({ secrets: [secret] }) })
 * ```
 *
 * @throws {SdkError} `INVALID_USE` if a secret is too short.
 * @throws {TypeError} If an option is unknown.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
export function sealedSessions(options: SealedSessionOptions = {}): SessionProvider {
  requireKnown('sealedSessions', options, OPTION_NAMES)
  const { secrets, ttlMs = 86_400_000 } = options
  const sealer = createSealer(secrets)
  return (endpoint) => ({
    allow: 'POST, OPTIONS',
    async resolve(incoming) {
      const record = await unseal(sealer, requireSessionId(incoming))
      if (!record || record.principal !== incoming.caller.principal) throw sessionNotFound()
      const revision = sessionRevision(record)
      requireRevision(incoming, revision)
      const client = { info: record.clientInfo, capabilities: record.clientCapabilities }
      return new UnstoredSession(endpoint, revision, client)
    },
    open: (incoming, message) =>
      answerInitialize(incoming, message, CAN_PUSH, (record) => seal(sealer, record, ttlMs)),
    close: async () => {},
  })
}

/** Creates the id of a new session. */
function seal(sealer: Sealer, session: SessionRecord, ttlMs: number): Promise<string> {
  const { revision, clientInfo, clientCapabilities, principal } = session
  const { name, title, version } = clientInfo
  const record = { revision, clientInfo: { name, title, version }, clientCapabilities, principal }
  const state = { kind: KIND, expires: Date.now() + ttlMs, record }
  if (new TextEncoder().encode(JSON.stringify(state)).length <= MAX_STATE_BYTES) {
    return sealer.seal(state)
  }
  throw new ProtocolError(
    INVALID_PARAMS,
    '"clientInfo" and "capabilities" are too long for a session id',
  )
}

/** Decrypts a session id. Returns `undefined` if the session has expired, or this server did not create it. */
async function unseal(sealer: Sealer, id: string): Promise<SessionRecord | undefined> {
  const state = id.length <= MAX_ID_CHARACTERS ? await sealer.open(id) : undefined
  if (!isObject(state) || state.kind !== KIND) return undefined
  const isCurrent = Number(state.expires) > Date.now()
  if (!isCurrent) return undefined
  const record = state.record as SessionRecord
  return { ...record, initialized: true, subscriptions: [] }
}
