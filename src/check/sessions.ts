/**
 * Checks how a server speaks the revisions with sessions.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 */
import { HEADER_SESSION_ID } from '../protocol/headers.ts'
import { findRevision, revisions, type Revision } from '../protocol/revisions.ts'
import type { JsonObject } from '../protocol/types.ts'
import { isImplementation, isObject } from '../protocol/validate.ts'
import { finding, type Finding } from './rules.ts'
import {
  describeAnswer,
  errorCode,
  initializeRequest,
  sessionHeaders,
  type Answer,
  type Wire,
} from './wire.ts'

/** A version that no server supports. */
const UNKNOWN_VERSION = '1999-12-31'
/** Session ids are visible ASCII characters. */
const SESSION_ID = /^[\x21-\x7e]+$/

/** Whether an answer to `initialize` is a result. */
export function isInitialized({ message }: Answer): boolean {
  return isObject(message?.result)
}

/**
 * Checks the handshake and the requests of a session, and ends it.
 *
 * @param initialized The answer to `initialize` that opened the session.
 * @returns Whether clients like this one can use the session.
 */
export async function* checkSessions(
  wire: Wire,
  initialized: Answer,
): AsyncGenerator<Finding, { readonly isUsable: boolean }> {
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
  yield* await checkNegotiation(wire)
  const version = String(protocolVersion)
  const sessionId = initialized.headers.get(HEADER_SESSION_ID)
  if (sessionId !== null && !SESSION_ID.test(sessionId)) {
    yield finding('session-id', `The session id is ${JSON.stringify(sessionId)}`)
  }
  const headers = sessionHeaders(version, sessionId)
  const ready = await wire.send({
    body: { jsonrpc: '2.0', method: 'notifications/initialized' },
    headers,
  })
  // The session has an id, but the response does not expose it
  if (wire.isPage && sessionId === null && ready.status >= 400) {
    yield finding('cors-expose', 'Pages cannot read Mcp-Session-Id')
    return { isUsable: false }
  }
  yield* await checkErrors(wire, headers, capabilities)
  // Earlier revisions do not have the header
  if (version >= '2025-06-18') {
    const badVersion = { ...headers, 'mcp-protocol-version': 'invalid' }
    const answer = await wire.send({ body: request('ping'), headers: badVersion })
    if (answer.status !== 400) {
      yield finding(
        'invalid-version-header',
        `"invalid" was answered with ${describeAnswer(answer)}`,
      )
    }
  }
  if (sessionId !== null) yield* await checkEnd(wire, headers)
  return { isUsable: true }
}

/**
 * The versions with sessions that the server accepts, as far as they have this transport: 2024-11-05 has
 * another one.
 */
export async function acceptedVersions(wire: Wire): Promise<Revision[]> {
  const accepted: Revision[] = []
  for (const { version, era } of revisions) {
    if (era === 'modern' || version === '2024-11-05') continue
    const answer = await wire.send({ body: initializeRequest(version) })
    await wire.endSession(answer)
    const result = answer.message?.result
    if (isObject(result) && result.protocolVersion === version) accepted.push(version)
  }
  return accepted
}

/** Checks the answer to a version that does not exist. */
async function checkNegotiation(wire: Wire): Promise<Finding[]> {
  const answer = await wire.send({ body: initializeRequest(UNKNOWN_VERSION) })
  const result = answer.message?.result
  const version = isObject(result) ? result.protocolVersion : undefined
  await wire.endSession(answer)
  if (findRevision(version)) return []
  const actual =
    version === undefined ? describeAnswer(answer) : `the version ${JSON.stringify(version)}`
  return [
    finding('version-negotiation', `The version "${UNKNOWN_VERSION}" was answered with ${actual}`),
  ]
}

async function checkErrors(
  wire: Wire,
  headers: Record<string, string>,
  capabilities: unknown,
): Promise<Finding[]> {
  const findings: Finding[] = []
  const garbled = await wire.send({ body: '{"jsonrpc": "2.0", ', headers })
  if (garbled.status !== 400 || errorCode(garbled) !== -32700) {
    findings.push(
      finding(
        'parse-error',
        `A body that is not JSON was answered with ${describeAnswer(garbled)}`,
      ),
    )
  }
  const unknown = await wire.send({ body: request('edgewise/unknown'), headers })
  if (errorCode(unknown) !== -32601) {
    findings.push(
      finding('unknown-method', `"edgewise/unknown" was answered with ${describeAnswer(unknown)}`),
    )
  }
  if (isObject(capabilities) && isObject(capabilities.tools)) {
    const params = { name: 'edgewise-unknown-tool', arguments: {} }
    const called = await wire.send({ body: request('tools/call', params), headers })
    if (errorCode(called) !== -32602) {
      findings.push(
        finding(
          'unknown-tool',
          `A call of an unknown tool was answered with ${describeAnswer(called)}`,
        ),
      )
    }
  }
  return findings
}

/** Ends the session. Servers may refuse that with 405. */
async function checkEnd(wire: Wire, headers: Record<string, string>): Promise<Finding[]> {
  const ended = await wire.send({ method: 'DELETE', headers })
  if (ended.status < 200 || ended.status >= 300) return []
  const answer = await wire.send({ body: request('ping'), headers })
  if (answer.status === 404) return []
  return [
    finding('ended-session', `After "DELETE", "ping" was answered with ${describeAnswer(answer)}`),
  ]
}

function request(method: string, params?: JsonObject): JsonObject {
  return { jsonrpc: '2.0', id: 1, method, ...(params && { params }) }
}
