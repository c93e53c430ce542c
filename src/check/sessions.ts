/**
 * Checks how a server implements the revisions that have sessions.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 */
import { findRevision, revisions, type Revision } from '../protocol/revisions.ts'
import type { JsonObject } from '../protocol/types.ts'
import { isImplementation, isObject } from '../protocol/validate.ts'
import { finding, type Finding } from './finding.ts'
import { isSessionError, Session } from './session.ts'
import { pingFindings } from './ping.ts'
import {
  UNKNOWN_CALL,
  UNKNOWN_METHOD,
  unknownMethodFinding,
  unknownToolFinding,
} from './unknown.ts'
import {
  describeAnswer,
  errorCode,
  hasNoResponse,
  initializeRequest,
  isEventStream,
  STREAM_REQUEST,
  type Answer,
  type CheckedEndpoint,
} from './endpoint.ts'

/** A version that no server supports. */
const UNKNOWN_VERSION = '1999-12-31'
/** Session ids are visible ASCII characters. */
const SESSION_ID = /^[\x21-\x7e]+$/

/** What clients can do with the sessions of a server. */
export interface SessionUse {
  /**
   * Reports that no requests can be sent in the session, because it has no id, or because a page cannot read the id.
   * Undefined if the session can be used.
   */
  readonly missingId?: Finding
  /** Whether the session's protocol version is a published revision, so that clients know it. */
  readonly isVersionKnown: boolean
  /** Whether the server lost the session. */
  readonly isLost: boolean
  /** Whether clients can end the session, with DELETE. */
  readonly canEnd: boolean
}

/** Whether an answer to `initialize` is a result. */
export function isInitialized({ message }: Answer): boolean {
  return isObject(message?.result)
}

/**
 * Checks the handshake and the requests of a session, and ends it.
 *
 * @param initializeAnswer The answer to `initialize` that opened the session.
 */
export async function* checkSessions(
  endpoint: CheckedEndpoint,
  initializeAnswer: Answer,
): AsyncGenerator<Finding, SessionUse> {
  const result = initializeAnswer.message?.result as JsonObject
  const { protocolVersion, capabilities, serverInfo } = result
  if (
    typeof protocolVersion !== 'string' ||
    !isObject(capabilities) ||
    !isImplementation(serverInfo)
  ) {
    yield finding(
      'initialize-result',
      `"initialize" returned ${JSON.stringify(result).slice(0, 200)}`,
    )
  }
  const version = String(protocolVersion)
  const isVersionKnown = findRevision(version) !== undefined
  if (typeof protocolVersion === 'string' && !isVersionKnown) {
    yield finding('version-negotiation', describeUnknownVersion(version))
  } else yield* await checkNegotiation(endpoint)
  const session = new Session(endpoint, initializeAnswer)
  const { id } = session
  if (id !== null && !SESSION_ID.test(id)) {
    yield finding('session-id', `The session id is ${JSON.stringify(id)}`)
  }
  const startAnswer = await session.start()
  const isRefused = endpoint.runsInPage && startAnswer.status >= 400
  if (id === null && (isRefused || (await requiresSession(session, startAnswer, capabilities)))) {
    const missingId = missingIdFinding(endpoint)
    return { missingId, isVersionKnown, isLost: false, canEnd: false }
  }
  yield* checkNotification(startAnswer)
  yield* await checkErrors(session, capabilities)
  if (findRevision(version)?.era === 'legacy') yield* await checkPing(session)
  // Earlier revisions do not have the header
  if (version >= '2025-06-18') {
    const answer = await session.send({
      body: request('ping'),
      headers: { 'mcp-protocol-version': 'invalid' },
      rule: 'invalid-version-header',
    })
    if (answer.status !== 400 && !isSessionError(answer)) {
      yield finding(
        'invalid-version-header',
        `The header "MCP-Protocol-Version: invalid" was answered with ${describeAnswer(answer)}`,
      )
    }
  }
  yield* await checkStream(endpoint, session)
  if (session.loss) yield session.loss
  const canEnd = session.id !== null && (yield* checkEnd(session))
  return { isVersionKnown, isLost: session.loss !== undefined, canEnd }
}

/**
 * Finds the versions with sessions that the server accepts over Streamable HTTP, the latest first. Omits 2024-11-05,
 * which does not have this transport.
 *
 * @param after Only versions after this one are tried.
 */
export async function acceptedVersions(
  endpoint: CheckedEndpoint,
  after: Revision = '2024-11-05',
): Promise<Revision[]> {
  const accepted: Revision[] = []
  for (const { version, era } of revisions) {
    if (era === 'modern' || version <= after) continue
    const answer = await endpoint.send({
      body: initializeRequest(version),
      rule: 'supported-version',
    })
    await endpoint.endSession(answer)
    const result = answer.message?.result
    if (isObject(result) && result.protocolVersion === version) accepted.push(version)
  }
  return accepted
}

/** Whether a server refuses requests without a session id. */
async function requiresSession(
  session: Session,
  startAnswer: Answer,
  capabilities: unknown,
): Promise<boolean> {
  if (mentionsSession(startAnswer)) return true
  const offered = ['tools', 'resources', 'prompts'].find(
    (name) => isObject(capabilities) && isObject(capabilities[name]),
  )
  if (offered === undefined) return false
  return mentionsSession(
    await session.send({ body: request(`${offered}/list`), rule: 'session-id' }),
  )
}

/** Whether an answer refuses a request, and mentions the session. */
function mentionsSession({ status, message, text }: Answer): boolean {
  return (status === 400 || status === 404) && /session/i.test(text || JSON.stringify(message))
}

/** Reports that `initialize` was answered without a session id. A page can read the id only if the header is exposed. */
function missingIdFinding({ runsInPage }: CheckedEndpoint): Finding {
  if (!runsInPage) {
    const message =
      'The server requires a session, but "initialize" was answered without "Mcp-Session-Id"'
    return finding('session-id', message)
  }
  const message =
    'The server requires a session, but this page received no "Mcp-Session-Id". Either "initialize" sends none, or pages cannot read it. Send "Access-Control-Expose-Headers: Mcp-Session-Id, WWW-Authenticate"'
  return finding('cors-expose', message, undefined, 'error')
}

function describeUnknownVersion(version: string): string {
  const [newest] = revisions
  const isNewer = /^\d{4}-\d\d-\d\d$/.test(version) && newest && version > newest.version
  const problem = isNewer
    ? 'newer than the revisions that can be checked'
    : 'not a published revision'
  return `"initialize" was answered with the version "${version}", which is ${problem}`
}

/** Checks the answer to `initialize` with a version that does not exist. */
async function checkNegotiation(endpoint: CheckedEndpoint): Promise<Finding[]> {
  const answer = await endpoint.send({
    body: initializeRequest(UNKNOWN_VERSION),
    rule: 'version-negotiation',
  })
  const result = answer.message?.result
  const version = isObject(result) ? result.protocolVersion : undefined
  await endpoint.endSession(answer)
  const known = findRevision(version)
  // The answer must be the latest version that the server supports
  const laterVersion = known && (await acceptedVersions(endpoint, known.version))[0]
  if (known && laterVersion === undefined) return []
  const actual =
    version === undefined ? describeAnswer(answer) : `the version ${JSON.stringify(version)}`
  const support =
    laterVersion === undefined ? '' : `, although the server supports "${laterVersion}"`
  const message = `The version "${UNKNOWN_VERSION}" was answered with ${actual}${support}`
  return [finding('version-negotiation', message, undefined, known ? 'warning' : 'error')]
}

function* checkNotification({ status, text }: Answer): Generator<Finding> {
  // A server may also refuse a notification, with an error
  if (status >= 400 || (status === 202 && text === '')) return
  const actual = status === 202 ? `202 and the body ${JSON.stringify(text.slice(0, 100))}` : status
  yield finding('notification', `"notifications/initialized" was answered with ${actual}`)
}

/** Checks the response to a request for the stream of messages from the server. */
async function checkStream(endpoint: CheckedEndpoint, session: Session): Promise<Finding[]> {
  try {
    const answer = await session.send({ ...STREAM_REQUEST, rule: 'get-stream' })
    if (answer.status === 405 || isEventStream(answer) || isSessionError(answer)) return []
    return [finding('get-stream', `"GET" was answered with ${answer.status}`)]
  } catch (error) {
    if (!hasNoResponse(error)) throw error
    // If the check runs in a page, a response without CORS headers looks like silence
    return endpoint.runsInPage ? [] : [finding('get-stream', error.message)]
  }
}

/** Checks the answers to an unknown method and to a call of an unknown tool. */
async function checkErrors(session: Session, capabilities: unknown): Promise<Finding[]> {
  const findings: Finding[] = []
  const methodAnswer = await session.send({
    body: request(UNKNOWN_METHOD),
    rule: 'unknown-method',
  })
  if (errorCode(methodAnswer) !== -32601 && !isSessionError(methodAnswer)) {
    findings.push(unknownMethodFinding(describeAnswer(methodAnswer)))
  }
  if (!isObject(capabilities) || !isObject(capabilities.tools)) return findings
  const call = { body: request('tools/call', UNKNOWN_CALL), rule: 'unknown-tool' } as const
  const answer = await session.send(call)
  // Behind a load balancer, perhaps only a second call reaches a process that does not know the session. `send`
  // then records that the session was lost
  await session.send(call)
  if (errorCode(answer) !== -32602 && !isSessionError(answer)) {
    findings.push(unknownToolFinding(answer.message, describeAnswer(answer)))
  }
  return findings
}

/** Checks the answer to a ping. An error is allowed only if the server does not know the session. */
async function checkPing(session: Session): Promise<Iterable<Finding>> {
  const answer = await session.send({ body: request('ping'), rule: 'ping' })
  return isSessionError(answer) ? [] : pingFindings(answer.message, describeAnswer(answer))
}

/** Ends the session, and checks that it has ended. Returns false if the server refuses to end it, such as with 405. */
async function* checkEnd(session: Session): AsyncGenerator<Finding, boolean> {
  const ended = await session.sendWithoutRetry({ method: 'DELETE', rule: 'ended-session' })
  if (ended.status < 200 || ended.status >= 300) return false
  const answer = await session.sendWithoutRetry({ body: request('ping'), rule: 'ended-session' })
  if (answer.status !== 404) {
    const message = `After "DELETE", "ping" was answered with ${describeAnswer(answer)}`
    yield finding('ended-session', message)
  }
  return true
}

function request(method: string, params?: JsonObject): JsonObject {
  return { jsonrpc: '2.0', id: 1, method, ...(params && { params }) }
}
