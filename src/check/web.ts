/**
 * Checks what a server must do so that Web pages can use it, and so that it is protected from other Web pages.
 *
 * @see https://fetch.spec.whatwg.org/#http-cors-protocol
 */
import { isLoopback } from '../patterns/loopback.ts'
import {
  HEADER_LAST_EVENT_ID,
  HEADER_METHOD,
  HEADER_NAME,
  HEADER_PROTOCOL_VERSION,
  HEADER_SESSION_ID,
} from '../protocol/headers.ts'
import { blockedHeaders, PING } from './blocked.ts'
import { finding, type Finding } from './finding.ts'
import {
  describeBody,
  type Answer,
  type CheckRequest,
  type NoResponseError,
  type CheckedEndpoint,
} from './endpoint.ts'

/** An origin that no server allows by name. */
const FOREIGN_ORIGIN = 'https://edgewise-check.example'
/** The end of the message if the server also accepts plain text from a foreign origin. */
const PLAIN_TEXT_DANGER =
  ', also with "Content-Type: text/plain". Browsers send such requests without a preflight request, so every Web page can call the tools, even without DNS rebinding'
/** The origin of the official Inspector, which servers on the local machine may allow. */
const LOCAL_ORIGIN = 'http://localhost:6274'

/** The request headers of 2026-07-28, and those of sessions. */
const STATELESS_HEADERS = [HEADER_METHOD, HEADER_NAME]
const SESSION_HEADERS = [HEADER_SESSION_ID, HEADER_LAST_EVENT_ID]
/** All request headers of MCP that browsers block unless the server allows them. */
const REQUEST_HEADERS = [
  'content-type',
  'authorization',
  HEADER_PROTOCOL_VERSION,
  ...SESSION_HEADERS,
  ...STATELESS_HEADERS,
]
const ALLOW_METHODS = 'Access-Control-Allow-Methods: GET, POST, DELETE'
const EXPOSED_HEADERS = [HEADER_SESSION_ID, 'www-authenticate']
/** The usual spellings of the header names that do not consist of capitalized words. */
const SPELLINGS: ReadonlyMap<string, string> = new Map([
  [HEADER_PROTOCOL_VERSION, 'MCP-Protocol-Version'],
  [HEADER_LAST_EVENT_ID, 'Last-Event-ID'],
  ['www-authenticate', 'WWW-Authenticate'],
])

/** The features of a server that determine which headers its clients send. */
export interface RequestFeatures {
  readonly isProtected: boolean
  readonly hasSessions: boolean
  /** Whether clients can end sessions, with DELETE. */
  readonly canEndSessions: boolean
  readonly isStateless: boolean
  /** A request that this server answers: `initialize` or `server/discover`. */
  readonly request: CheckRequest
}

/** Checks preflights, exposed headers and origins. */
export async function* checkWeb(
  endpoint: CheckedEndpoint,
  features: RequestFeatures,
): AsyncGenerator<Finding> {
  // If the check runs in a page, these checks are impossible: the browser sets the origin itself, and sends the preflights
  if (endpoint.runsInPage) return
  const isLocal = isLoopback(new URL(endpoint.url).hostname)
  if (isLocal) yield* checkOrigin(endpoint, features)
  let preflight = await sendPreflight(endpoint, FOREIGN_ORIGIN)
  if (isLocal && allowedOrigin(preflight) === undefined)
    preflight = await sendPreflight(endpoint, LOCAL_ORIGIN)
  const allowed = allowedOrigin(preflight)
  if (allowed === undefined) {
    // A server on the local machine need not be open to pages
    if (!isLocal) yield finding('cors-preflight', describeRefusal(preflight))
    return
  }
  const origin = allowed === '*' ? FOREIGN_ORIGIN : allowed
  const missing = missingHeaders(preflight, features)
  if (missing.length > 0) yield headersFinding(preflight, missing, features)
  if (features.canEndSessions) yield* checkMethods(endpoint, origin)
  const answer = await endpoint.send({
    ...withOrigin(features.request, origin),
    rule: 'cors-expose',
  })
  await endpoint.endSession(answer)
  const exposed = listOf(answer, 'access-control-expose-headers')
  const needed = EXPOSED_HEADERS.filter((name) => answer.headers.has(name))
  const hidden = needed.filter((name) => !exposed.includes(name) && !exposed.includes('*'))
  if (hidden.length > 0) {
    const line = headerLine('Access-Control-Expose-Headers', [...exposed, ...EXPOSED_HEADERS])
    yield finding('cors-expose', `Pages cannot read ${namesOf(hidden)}. Send "${line}"`)
  }
}

/** Checks that pages may send DELETE. Browsers never block GET and POST because of their method. */
async function* checkMethods(endpoint: CheckedEndpoint, origin: string): AsyncGenerator<Finding> {
  const preflight = await sendPreflight(endpoint, origin, 'DELETE')
  const methods = listOf(preflight, 'access-control-allow-methods')
  if (methods.includes('delete') || methods.includes('*')) return
  const message = `Pages cannot end sessions, because "DELETE" is not allowed. Send "${ALLOW_METHODS}"`
  yield finding('cors-methods', message, undefined, 'warning')
}

/** Explains why a browser blocked a request of a page, although the server answers other requests. */
export async function blockedFinding(
  endpoint: CheckedEndpoint,
  { request }: NoResponseError,
): Promise<Finding> {
  const { body, headers = {}, method = 'POST' } = request
  const blocked = await blockedHeaders((tested) => endpoint.send({ body: PING, headers: tested }))
  const isMissing = (name: string): boolean => blocked?.includes(name) ?? false
  if (Object.keys(headers).some(isMissing)) {
    const missing = namesOf(blocked ?? [])
    const line = headerLine('Access-Control-Allow-Headers', REQUEST_HEADERS)
    const message = `"Access-Control-Allow-Headers" does not list ${missing}, so browsers block requests with these headers. Send "${line}"`
    return finding('cors-headers', message, undefined, 'error')
  }
  if (method !== 'POST') {
    const message = `The browser blocked ${method}. Send "${ALLOW_METHODS}"`
    return finding('cors-methods', message)
  }
  const message = `The response to ${describeBody(body)} has no "Access-Control-Allow-Origin", although other responses do. Send it with every response, and with every status`
  return finding('cors-origin', message)
}

/** Checks that a server on the local machine refuses foreign origins. */
async function* checkOrigin(
  endpoint: CheckedEndpoint,
  { request, hasSessions }: RequestFeatures,
): AsyncGenerator<Finding> {
  // Sent without the token, because foreign pages have none: a server that requires a token is protected from them
  const foreignRequest = {
    ...withOrigin(request, FOREIGN_ORIGIN),
    isAnonymous: true,
    rule: 'origin-check',
  } as const
  const answer = await endpoint.send(foreignRequest)
  if (answer.status >= 400) return
  await endpoint.endSession(answer)
  const message = `"Origin: ${FOREIGN_ORIGIN}" was answered with ${answer.status}`
  // Pages cannot send the id of a session, or the headers of 2026-07-28, without a preflight request
  const isSimple = !hasSessions && !request.headers
  const danger =
    isSimple && (await acceptsPlainText(endpoint, foreignRequest)) ? PLAIN_TEXT_DANGER : ''
  yield finding('origin-check', message + danger)
}

async function acceptsPlainText(
  endpoint: CheckedEndpoint,
  request: CheckRequest,
): Promise<boolean> {
  const headers = { ...request.headers, 'content-type': 'text/plain' }
  const answer = await endpoint.send({ ...request, headers })
  return answer.status < 400
}

function withOrigin(request: CheckRequest, origin: string): CheckRequest {
  return { ...request, headers: { ...request.headers, origin } }
}

function sendPreflight(
  endpoint: CheckedEndpoint,
  origin: string,
  method = 'POST',
): Promise<Answer> {
  return endpoint.send({
    method: 'OPTIONS',
    isAnonymous: true,
    headers: {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': REQUEST_HEADERS.join(','),
    },
    rule: 'cors-headers',
  })
}

/** The origin that a preflight response allows, which may differ from the origin of the request. */
function allowedOrigin({ status, headers }: Answer): string | undefined {
  const isOk = status >= 200 && status < 300
  return isOk ? (headers.get('access-control-allow-origin') ?? undefined) : undefined
}

function describeRefusal({ status }: Answer): string {
  const reason =
    status >= 200 && status < 300
      ? 'the response to a preflight request has no "Access-Control-Allow-Origin"'
      : `a preflight request was answered with ${status}`
  return `Pages of other origins are not allowed: ${reason}`
}

function missingHeaders(preflight: Answer, features: RequestFeatures): string[] {
  const { isProtected, hasSessions } = features
  const needed = [
    'content-type',
    HEADER_PROTOCOL_VERSION,
    ...(isProtected ? ['authorization'] : []),
    ...(hasSessions ? SESSION_HEADERS : []),
    ...STATELESS_HEADERS,
  ]
  const allowed = listOf(preflight, 'access-control-allow-headers')
  // `*` allows all headers except `authorization`
  return needed.filter(
    (name) => !allowed.includes(name) && (name === 'authorization' || !allowed.includes('*')),
  )
}

function headersFinding(preflight: Answer, missing: string[], features: RequestFeatures): Finding {
  const allowed = listOf(preflight, 'access-control-allow-headers')
  const line = headerLine('Access-Control-Allow-Headers', [...allowed, ...REQUEST_HEADERS])
  const message = `These headers are not allowed: ${namesOf(missing)}. Send "${line}"`
  // To a server without 2026-07-28, clients send these headers only to find out whether it supports that revision
  const isMinor = !features.isStateless && missing.every((name) => STATELESS_HEADERS.includes(name))
  return finding('cors-headers', message, undefined, isMinor ? 'note' : 'warning')
}

function headerLine(header: string, names: readonly string[]): string {
  return `${header}: ${namesOf([...new Set(names)].filter((name) => name !== ''))}`
}

/** Joins the names of headers, as the specifications spell them. */
function namesOf(names: readonly string[]): string {
  return names.map((name) => SPELLINGS.get(name) ?? capitalize(name)).join(', ')
}

function capitalize(name: string): string {
  return name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase())
}

function listOf({ headers }: Answer, name: string): string[] {
  return (headers.get(name) ?? '').split(',').map((item) => item.trim().toLowerCase())
}
