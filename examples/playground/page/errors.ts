/**
 * Explains failures: what failed, why, and what to do about it. Loaded on demand.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#error-codes
 */
import type { AuthorizationError } from 'edgewise/authorization'
import {
  ErrorCode,
  fetchFaultOf,
  isObject,
  ProtocolError,
  revisions,
  SdkError,
  type FetchFault,
  type SdkErrorCode,
} from 'edgewise/browser'
import { explainMissingSession } from './connection/missing-session.ts'
import { isAuthorizationError, type Explanation, type FailureContext } from './explanation.ts'
import { plainTimeout } from './time.ts'
import type { Answer } from './timeline/observe.ts'

/** Explains an error. */
export function explain(error: unknown, context: FailureContext = {}): Explanation {
  const { data } = isObject(error) ? error : {}
  if (context.lacksSession !== undefined && /session/i.test(String(error))) {
    return explainMissingSession(summary(error, context), context.lacksSession, context)
  }
  const reason = reasonOf(error, context)
  return { headline: summary(error, context), ...reason, ...(data !== undefined && { data }) }
}

/** The headline for a response that the browser does not let the page read. */
export const BLOCKED = 'The server answers, but the browser blocks the response (CORS)'

/** Describes an error in one line. */
function summary(error: unknown, { lastAnswer }: FailureContext): string {
  if (fetchFaultOf(error)?.kind === 'cors') return BLOCKED
  const answered = answeredRevision(error, lastAnswer)
  if (answered) return `The server answered “initialize” with the revision “${answered.join(', ')}”`
  if (error instanceof ProtocolError) return `${error.message} (${error.code})`
  if (!(error instanceof Error)) return String(error)
  // The reason follows the headline
  const message = plainTimeout(error.message.replace(`: ${String(error.cause)}`, ''))
  // The attempts of several revisions, all of which the timeline shows
  if (lastAnswer?.isMessage === false && /^[\d-]+: .*; [\d-]+: /.test(message)) {
    return `"${lastAnswer.url}" does not respond as an MCP endpoint`
  }
  const [endpoint] = /^".*" is not an MCP endpoint(?=:)/.exec(message) ?? []
  // Lists of revisions
  return endpoint ?? message.replace(/,(?=\d{4}-\d\d-\d\d)/g, ', ')
}

/** The beginning of a response that is searched for its title or its text, in characters. */
const MAX_EXCERPTED = 10_000

type Reason = Pick<Explanation, 'why' | 'advice'>

function reasonOf(error: unknown, context: FailureContext): Reason {
  const fault = fetchFaultOf(error)
  if (fault) return reasonOfFault(fault, context)
  if (isAuthorizationError(error)) {
    return { why: whyRefused(error), advice: [adviceByStep[error.step]] }
  }
  const code = error instanceof SdkError ? error.code : undefined
  if (code === 'UNAUTHORIZED' && context.hasCredentials) {
    return { advice: ['Check the bearer token and the headers in the settings of this server.'] }
  }
  const { lastAnswer } = context
  const isExplained = code === 'TIMEOUT' || code === 'VERSION_MISMATCH'
  if (lastAnswer && !lastAnswer.isMessage && !isExplained) return reasonOfAnswer(lastAnswer)
  if (error instanceof ProtocolError) {
    // Templates and prompts have no schema
    const isUseless = error.code === ErrorCode.INVALID_PARAMS && !context.hasSchema
    return { advice: isUseless ? [] : list(adviceByProtocolCode[error.code]) }
  }
  const { status } = error instanceof SdkError && isObject(error.data) ? error.data : {}
  if (code === 'HTTP' && Number(status) >= 500) return { advice: [SERVER_ERROR] }
  if (error instanceof SdkError && code === 'VERSION_MISMATCH') {
    return { why: whyVersions(error, lastAnswer), advice: [adviceOnVersions(error, lastAnswer)] }
  }
  return { advice: list(code && adviceByCode[code]) }
}

/** The error of the authorization server, in words. */
function whyRefused({ answer }: AuthorizationError): string | undefined {
  const { error, description } = answer ?? {}
  if (error === undefined) return undefined
  const reason = description ?? oauthErrors[error]
  return reason === undefined ? error : `${error}: ${reason}`
}

/** The revision with which the server answered `initialize`, if that is why there is none in common. */
function answeredRevision(error: unknown, lastAnswer: Answer | undefined): unknown[] | undefined {
  if (!(error instanceof SdkError) || error.code !== 'VERSION_MISMATCH') return undefined
  const { supported } = isObject(error.data) ? error.data : {}
  const isAnswered = lastAnswer?.text.includes('"protocolVersion"') && Array.isArray(supported)
  return isAnswered ? supported : undefined
}

/** What is wrong with the revision that the server chose. */
function whyVersions(error: SdkError, lastAnswer: Answer | undefined): string | undefined {
  const supported = answeredRevision(error, lastAnswer)
  if (!supported) return undefined
  return supported.every(isUnpublished)
    ? `The revision “${supported.join(', ')}” was never published.`
    : 'This page did not request that revision.'
}

/** Whether there is no such revision. The page does not know newer ones than its own. */
function isUnpublished(revision: unknown): boolean {
  const published = revisions.map(({ version }) => String(version))
  return !published.includes(String(revision)) && published.some((each) => each > String(revision))
}

/** The advice for a server without the requested revision, or without any revision of the page. */
function adviceOnVersions(error: SdkError, lastAnswer: Answer | undefined): string {
  if (answeredRevision(error, lastAnswer)?.every(isUnpublished)) return ANSWER_PUBLISHED
  const { requested } = isObject(error.data) ? error.data : {}
  const isAuto = Array.isArray(requested) && requested.length > 1
  return isAuto ? 'Update the server: the page supports all published revisions.' : CHOOSE_AUTO
}

function reasonOfFault(
  { kind, message, advice }: FetchFault,
  { localNetwork = 'granted' }: FailureContext,
): Reason {
  const [why] = message.split(`. ${advice}`)
  if (kind === 'unreachable' && localNetwork !== 'granted') {
    return {
      why: 'The browser does not let this page reach the local network.',
      advice: LOCAL_NETWORK,
    }
  }
  if (kind === 'unreachable') {
    // A page of this machine needs no permission
    const isLocalPage = /^(?:localhost|127\.)/.test(globalThis.location?.hostname ?? '')
    // Only HTTPS has a certificate
    const runs = why?.includes('"http:') ? 'Check that the server runs.' : RUNS
    return { why, advice: ['Check the URL.', runs, ...(isLocalPage ? [] : [ON_NETWORK])] }
  }
  const instead = kind === 'cors' || kind === 'mixed-content' || kind === 'csp'
  return { why, advice: [`${advice}.`, ...(instead ? [INSPECT] : [])] }
}

/** Describes a response that is not a message, for example by its page title, and the possible reason. */
function reasonOfAnswer({ status, statusText, contentType, text, url }: Answer): Reason {
  const isHtml = contentType.includes('html') || /^\s*</.test(text)
  const beginning = text.slice(0, MAX_EXCERPTED)
  const excerpt = /<title>([^<]+)/i.exec(beginning)?.[1] ?? beginning.replace(/<[^>]*>/g, '')
  const http = `HTTP ${status} ${statusText}`.trim()
  const why = `The server answered ${http}: ${excerpt.trim().slice(0, 200) || 'nothing'}`
  if (status >= 500) return { why, advice: [SERVER_ERROR] }
  if (status === 401 || status === 403) return { why, advice: [NO_CHALLENGE] }
  if (status === 429) return { why, advice: ['Wait before you connect again.'] }
  const form = isHtml ? 'HTML' : contentType.split(';')[0]
  const isJson = /\bjson\b/.test(contentType)
  const notJson =
    status < 300 && !isJson && form ? [`The response is ${form} instead of JSON.`] : []
  return { why, advice: [...notJson, OTHER_PAGE, ...(url.endsWith('/sse') ? [] : [TRY_PATH])] }
}

function list(advice: string | undefined): string[] {
  return advice === undefined ? [] : [advice]
}

const ANSWER_PUBLISHED =
  'Have the server answer “initialize” with the requested revision if it supports that one, otherwise with the latest published revision that it supports.'
const CHOOSE_AUTO = 'Choose “Auto revision” next to the address.'
const OTHER_PAGE = 'The address may be another page of that site: an endpoint often ends in /mcp.'
const TRY_PATH = 'Servers of 2024-11-05 often have their endpoint at /sse.'
const SERVER_ERROR = 'Look at the log of the server, or of the proxy in front of it.'
const NO_CHALLENGE =
  'The response has no WWW-Authenticate header that this page can read. Have the server send the header and expose it (Access-Control-Expose-Headers), or set a bearer token in the settings of this server.'
/** The advice for what the rules of browsers forbid. */
export const INSPECT =
  'Or run “npx edgewise inspect” with this address: it forwards the requests, so that no such rules apply.'
const RUNS = 'Check that the server runs, and that its certificate is valid.'
const ON_NETWORK = 'If it is on this machine or network, let this page access the local network.'
const LOCAL_NETWORK = [
  'Allow access to the local network or to apps on this device in the browser’s settings of this site, and connect again.',
  'Or run “npx edgewise inspect” with this address, which serves this page from your machine.',
]

/** @see https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2.1 */
const oauthErrors: { readonly [error: string]: string | undefined } = {
  access_denied: 'you or the authorization server refused access.',
  invalid_scope: 'the authorization server does not know a scope that the MCP server requires.',
  invalid_client: 'the authorization server does not know this client, or has removed it.',
  invalid_grant: 'the authorization server does not accept the code or the refresh token.',
  server_error: 'the authorization server has failed.',
  temporarily_unavailable: 'the authorization server is overloaded or in maintenance.',
}

const adviceByCode: { readonly [Code in SdkErrorCode]?: string } = {
  TIMEOUT: 'Find out what takes the server so long, or raise the timeout in the settings.',
  UNAUTHORIZED: 'Set a bearer token in the settings of this server, if it expects one.',
  FORBIDDEN: 'Sign in as a user who may do this, or ask the operator of the server for access.',
  SESSION_LOST: 'Press “Reconnect”, which begins a new session.',
  CLOSED: 'Press “Connect” or “Reconnect”.',
  CAPABILITY_MISSING: 'The server does not declare this capability, so it was not called.',
}

const adviceByProtocolCode: { readonly [code: number]: string | undefined } = {
  [ErrorCode.METHOD_NOT_FOUND]: 'The server does not implement this method in this revision.',
  [ErrorCode.INVALID_PARAMS]: 'The server rejects the arguments: compare them with the schema.',
  [ErrorCode.INTERNAL_ERROR]: SERVER_ERROR,
  [ErrorCode.RESOURCE_NOT_FOUND]: 'The server has no resource with this URI.',
  [ErrorCode.UNSUPPORTED_PROTOCOL_VERSION]: CHOOSE_AUTO,
  [ErrorCode.HEADER_MISMATCH]:
    'A proxy in front of the server may have removed or changed headers.',
}

const adviceByStep: { readonly [Step in AuthorizationError['step']]: string } = {
  'resource-metadata':
    'Have the MCP server serve its protected resource metadata (RFC 9728) below /.well-known/oauth-protected-resource, for pages of other origins too.',
  'server-metadata':
    'Compare the metadata of the authorization server with what the MCP server names: the issuer must be the same, and PKCE with S256 is required.',
  registration:
    'Have the authorization server register clients, or accept client ID metadata documents.',
  authorization: 'Press “Connect” to sign in again.',
  token:
    'Look at the log of the authorization server. The token endpoint must allow this page (CORS).',
  refresh: 'Press “Connect” to sign in again.',
  access:
    'The MCP server must accept the tokens that its authorization server issues: check the audience and the issuer that it expects.',
}
