/**
 * Checks a server against the specification, and against what hosts and model APIs accept.
 *
 * @see https://modelcontextprotocol.io/specification/versioning
 */
import type { Client } from '../client/client.ts'
import type { SdkError } from '../protocol/errors.ts'
import { HEADER_SESSION_ID } from '../protocol/headers.ts'
import { findRevision, type Revision } from '../protocol/revisions.ts'
import { checkAuthorization } from './authorization.ts'
import { checkCatalog } from './catalog.ts'
import { checkMalformed } from './malformed.ts'
import { finding, type Finding } from './finding.ts'
import { acceptedVersions, checkSessions, isInitialized } from './sessions.ts'
import { checkStateless, supportedVersions } from './stateless.ts'
import { checkPing } from './ping.ts'
import { checkUnknownMethod, checkUnknownTool } from './unknown.ts'
import { blockedFinding, checkWeb } from './web.ts'
import {
  describeAnswer,
  hasNoResponse,
  initializeRequest,
  isEventStream,
  modernRequest,
  NoResponseError,
  STREAM_REQUEST,
  CheckedEndpoint,
  type Answer,
  type CheckRequest,
  type EndpointOptions,
} from './endpoint.ts'

const INITIALIZE: CheckRequest = { body: initializeRequest('2025-11-25') }
const DISCOVER: CheckRequest = modernRequest('server/discover')

/** Connects a client to the server, in a revision if one is given. */
export type OpenClient = (revision?: Revision) => Promise<Client>

/**
 * Checks an endpoint over HTTP. Calls none of the server's tools. Opens sessions, and ends them. If a request gets no
 * response, the finding about that request is the last one.
 *
 * @throws {TypeError} If no server responds at the URL.
 * @throws {SdkError} `TIMEOUT` if the first response takes too long.
 */
export async function* checkEndpoint(
  options: EndpointOptions,
  open: OpenClient,
): AsyncGenerator<Finding> {
  const endpoint = new CheckedEndpoint(options)
  const initializeAnswer = await endpoint.send(INITIALIZE)
  const messages = new Set<string>()
  try {
    for await (const found of checkRespondingEndpoint(endpoint, initializeAnswer, options, open)) {
      messages.add(found.message)
      yield found
    }
  } catch (error) {
    options.signal?.throwIfAborted()
    if (!hasNoResponse(error)) throw error
    const explanation = await explainMissingResponse(endpoint, error)
    // A browser may block several requests for the same reason. The reason is reported only once
    if (!messages.has(explanation.message)) {
      yield asLastFinding(explanation)
    }
  }
}

async function* checkRespondingEndpoint(
  endpoint: CheckedEndpoint,
  initializeAnswer: Answer,
  { headers, signal }: EndpointOptions,
  open: OpenClient,
): AsyncGenerator<Finding> {
  let discoverAnswer: Answer | undefined
  try {
    discoverAnswer = await endpoint.send(DISCOVER)
  } catch (error) {
    // A browser may block the headers of this request, but not those of requests in sessions
    if (!endpoint.runsInPage || !hasNoResponse(error)) throw error
    yield await explainMissingResponse(endpoint, error)
  }
  const features = {
    isProtected: headers.has('authorization'),
    hasSessions: initializeAnswer.headers.has(HEADER_SESSION_ID),
    request: isInitialized(initializeAnswer) ? INITIALIZE : DISCOVER,
  }
  for (const answer of [discoverAnswer, initializeAnswer]) {
    if (answer?.status !== 401) continue
    yield* checkAuthorization(endpoint, answer)
    const unauthorizedFeatures = { isProtected: true, isStateless: false, canEndSessions: false }
    yield* checkWeb(endpoint, { ...features, ...unauthorizedFeatures })
    return yield asLastFinding(
      finding('token-required', describeTokenProblem(features.isProtected)),
    )
  }
  const versions = discoverAnswer && supportedVersions(discoverAnswer)
  const isLegacy = isInitialized(initializeAnswer)
  if (!versions && !isLegacy) {
    // If `client` is a string, it is the reason why there is no client
    const client = (await offersStream(endpoint)) ? await tryOpen(open, signal) : 'no stream'
    if (typeof client === 'string') {
      return yield finding(
        'not-mcp',
        describeRefusal(describeAnswer(initializeAnswer), initializeAnswer.text),
      )
    }
    yield finding('http-sse', 'The endpoint offers only HTTP+SSE, the transport of 2024-11-05')
    return yield* checkWithClient(client, signal)
  }
  if (versions) yield* checkStateless(endpoint)
  const session = isLegacy ? yield* checkSessions(endpoint, initializeAnswer) : undefined
  const hasUsableSession = session !== undefined && !session.missingId
  if (session?.missingId) {
    // Further findings would only be consequences of this one
    if (!versions) return yield asLastFinding(session.missingId)
    yield session.missingId
  }
  yield* checkWeb(endpoint, {
    ...features,
    isStateless: versions !== undefined,
    canEndSessions: session?.canEnd ?? false,
  })
  const canConnect = hasUsableSession && session.isVersionKnown
  if (versions || canConnect) {
    const accepted = canConnect && !session.isLost ? await acceptedVersions(endpoint) : []
    // For a legacy server, `checkSessions` has already called an unknown tool
    const isUnknownToolChecked = isLegacy
    yield* checkClients(
      new Set([...(versions ?? []), ...accepted]),
      isUnknownToolChecked,
      open,
      signal,
    )
  }
  if (hasUsableSession) yield* checkMalformed(endpoint)
}

/** Whether GET opens an event stream, as in HTTP+SSE. */
async function offersStream(endpoint: CheckedEndpoint): Promise<boolean> {
  try {
    return isEventStream(await endpoint.send(STREAM_REQUEST))
  } catch (error) {
    if (hasNoResponse(error)) return false
    throw error
  }
}

/** Checks a program that communicates over stdio, by the rules that apply to every transport. */
export async function* checkProgram(
  open: OpenClient,
  signal?: AbortSignal,
): AsyncGenerator<Finding> {
  yield* checkWithClient(await open(), signal)
}

/** Checks a server with a client, by the rules that apply to every transport. */
async function* checkWithClient(client: Client, signal?: AbortSignal): AsyncGenerator<Finding> {
  await using connected = client
  yield* checkCatalog(connected, signal)
  yield* checkUnknownMethod(connected, signal)
  yield* checkUnknownTool(connected, signal)
  yield* checkPing(connected, signal)
}

/**
 * Connects in each version that the server claims to support, except versions that this SDK does not know. Then
 * connects in the default version, and checks the lists.
 *
 * @param isUnknownToolChecked Whether the checks of sessions have already called an unknown tool.
 */
async function* checkClients(
  versions: Iterable<Revision>,
  isUnknownToolChecked: boolean,
  open: OpenClient,
  signal: AbortSignal | undefined,
): AsyncGenerator<Finding> {
  let hasFailed = false
  for (const version of versions) {
    if (!findRevision(version)) continue
    const client = await tryOpen(open, signal, version)
    if (typeof client !== 'string') await client.close()
    else yield finding('supported-version', `A client cannot use ${version}: ${client}`)
    hasFailed ||= typeof client === 'string'
  }
  const client = await tryOpen(open, signal)
  if (typeof client !== 'string') {
    await using connected = client
    yield* checkCatalog(connected, signal)
    if (!isUnknownToolChecked) yield* checkUnknownTool(connected, signal)
  } else if (!hasFailed) yield finding('supported-version', `A client cannot connect: ${client}`)
}

/** Connects a client. If that fails, returns the error message. */
async function tryOpen(
  open: OpenClient,
  signal: AbortSignal | undefined,
  version?: Revision,
): Promise<Client | string> {
  try {
    return await open(version)
  } catch (error) {
    signal?.throwIfAborted()
    return error instanceof Error ? error.message : String(error)
  }
}

/** Finds out why a request got no response, although an earlier request did. */
async function explainMissingResponse(
  endpoint: CheckedEndpoint,
  error: NoResponseError | SdkError,
): Promise<Finding> {
  if (endpoint.runsInPage && error instanceof NoResponseError) {
    try {
      const answer = await endpoint.send(INITIALIZE)
      // The browser may block this request too
      await endpoint.endSession(answer).catch(() => {})
      return await blockedFinding(endpoint, error)
    } catch (other) {
      if (!hasNoResponse(other)) throw other
    }
  }
  return finding('no-response', error.message)
}

/** Adds to the message of the last finding that the rest was not checked. */
function asLastFinding(found: Finding): Finding {
  return { ...found, message: `${found.message}. The rest was not checked` }
}

function describeTokenProblem(hasToken: boolean): string {
  return hasToken
    ? 'The server answered with 401, although the check sent a token'
    : 'The server answered with 401: it requires a token'
}

function describeRefusal(answer: string, text: string): string {
  const isHtml = /^\s*<(?:!doctype|html)/i.test(text)
  return `"initialize" was answered with ${isHtml ? `an HTML page: is the path right? (${answer})` : answer}`
}
