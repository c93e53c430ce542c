/**
 * Checks how a server implements the revisions that have sessions.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 */
import { findRevision, revisions, type Revision } from '../protocol/revisions.ts'
import type { JsonObject } from '../protocol/types.ts'
import { isImplementation, isObject } from '../protocol/validate.ts'
import { finding, rules, type Finding } from './rules.ts'
import { isSessionError, Session } from './session.ts'
import {
  describeAnswer,
  errorCode,
  initializeRequest,
  type Answer,
  type CheckedEndpoint,
} from './endpoint.ts'

/** A version that no server supports. */
const UNKNOWN_VERSION = '1999-12-31'
/** A name that no tool has. */
const UNKNOWN_TOOL = 'edgewise-unknown-tool'
/** Session ids are visible ASCII characters. */
const SESSION_ID = /^[\x21-\x7e]+$/

/** What clients can do with the sessions of a server. */
export interface SessionUse {
  /** Whether requests can be sent in the session. False if this is a page that cannot read the session id. */
  readonly isUsable: boolean
  /** Whether the session's protocol version is a published revision, so that clients know it. */
  readonly isVersionKnown: boolean
  /** Whether the server lost the session. */
  readonly isLost: boolean
}

/** Whether an answer to `initialize` is a result. */
export function isInitialized({ message }: Answer): boolean {
  return isObject(message?.result)
}

/**
 * Checks the handshake and the requests of a session, and ends it.
 *
 * @param initialized The answer to `initialize` that opened the session.
 */
export async function* checkSessions(
  endpoint: CheckedEndpoint,
  initialized: Answer,
): AsyncGenerator<Finding, SessionUse> {
  const result = initialized.message?.result as JsonObject
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
    yield finding('version-negotiation', describeVersion(version))
  } else yield* await checkNegotiation(endpoint)
  const session = new Session(endpoint, initialized)
  const { id } = session
  if (id !== null && !SESSION_ID.test(id)) {
    yield finding('session-id', `The session id is ${JSON.stringify(id)}`)
  }
  const startAnswer = await session.start()
  // The session has an id, but the response does not expose it
  if (endpoint.isPage && id === null && startAnswer.status >= 400) {
    yield finding('cors-expose', 'Pages cannot read Mcp-Session-Id')
    return { isUsable: false, isVersionKnown, isLost: false }
  }
  yield* await checkErrors(session, capabilities)
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
  if (session.loss) yield session.loss
  if (session.id !== null) yield* await checkEnd(session)
  return { isUsable: true, isVersionKnown, isLost: session.loss !== undefined }
}

/**
 * Finds the versions with sessions that the server accepts over Streamable HTTP. Omits 2024-11-05, which does not
 * have this transport.
 */
export async function acceptedVersions(endpoint: CheckedEndpoint): Promise<Revision[]> {
  const accepted: Revision[] = []
  for (const { version, era } of revisions) {
    if (era === 'modern' || version === '2024-11-05') continue
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

function describeVersion(version: string): string {
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
  if (findRevision(version)) return []
  const actual =
    version === undefined ? describeAnswer(answer) : `the version ${JSON.stringify(version)}`
  return [
    finding('version-negotiation', `The version "${UNKNOWN_VERSION}" was answered with ${actual}`),
  ]
}

async function checkErrors(session: Session, capabilities: unknown): Promise<Finding[]> {
  const findings: Finding[] = []
  const methodAnswer = await session.send({
    body: request('edgewise/unknown'),
    rule: 'unknown-method',
  })
  if (errorCode(methodAnswer) !== -32601 && !isSessionError(methodAnswer)) {
    findings.push(
      finding(
        'unknown-method',
        `The method "edgewise/unknown" was answered with ${describeAnswer(methodAnswer)}`,
      ),
    )
  }
  if (!isObject(capabilities) || !isObject(capabilities.tools)) return findings
  const params = { name: UNKNOWN_TOOL, arguments: {} }
  const call = { body: request('tools/call', params), rule: 'unknown-tool' } as const
  const callAnswer = await session.send(call)
  // Behind a load balancer, perhaps only a second call reaches a process that does not know the session
  await session.send(call)
  if (errorCode(callAnswer) === -32602 || isSessionError(callAnswer)) return findings
  const { result, error } = callAnswer.message ?? {}
  const isError = isObject(result) && result.isError === true
  const actual = isError ? 'a result with "isError": true' : describeAnswer(callAnswer)
  const message = `"tools/call" was sent with the name "${UNKNOWN_TOOL}", which no tool has. It was answered with ${actual}, instead of the error -32602`
  // Clients notice other errors too
  const severity = isError || error ? 'note' : rules['unknown-tool'].severity
  findings.push(finding('unknown-tool', message, undefined, severity))
  return findings
}

/** Ends the session, and checks that it has ended. Servers may refuse to end it, with 405. */
async function checkEnd(session: Session): Promise<Finding[]> {
  const ended = await session.sendWithoutRetry({ method: 'DELETE', rule: 'ended-session' })
  if (ended.status < 200 || ended.status >= 300) return []
  const answer = await session.sendWithoutRetry({ body: request('ping'), rule: 'ended-session' })
  if (answer.status === 404) return []
  return [
    finding('ended-session', `After "DELETE", "ping" was answered with ${describeAnswer(answer)}`),
  ]
}

function request(method: string, params?: JsonObject): JsonObject {
  return { jsonrpc: '2.0', id: 1, method, ...(params && { params }) }
}
