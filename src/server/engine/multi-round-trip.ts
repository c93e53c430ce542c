/**
 * Multi-round-trip requests: the recording of a handler's input requests and steps is passed
 * through the client.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
import { digest } from '../../patterns/digest.ts'
import { emptyRecording, ReplayInput, type Recording } from '../../patterns/replay.ts'
import { createSealer } from '../../patterns/sealed-state.ts'
import { degradeRequest } from '../../protocol/degrade-request.ts'
import { ProtocolError, UrlElicitationRequired } from '../../protocol/errors.ts'
import { INTERNAL_ERROR } from '../../protocol/error-codes.ts'
import type { RevisionFacts } from '../../protocol/revisions.ts'
import type {
  InputRequest,
  InputRequiredResult,
  Result,
  JsonRpcRequest,
} from '../../protocol/types.ts'
import { serverFacts } from '../../protocol/server-facts.ts'
import { noteElicitation } from '../../session/url-elicitations.ts'
import type { ClientInput, MethodTarget, ServerDefinition } from '../definition.ts'
import { requireAskable } from '../request/ask.ts'
import { describeAskError } from '../request/ask-errors.ts'
import type { Exchange } from '../request/exchange.ts'
import type { InputOptions, ReplayMode } from '../request/ask-mode.ts'
import type { Suspension } from '../request/outcome.ts'
import { invalidParams, requireObject } from '../request/params.ts'
import { RequestContext } from '../request/request-context.ts'
import { cannotAsk } from './without-input.ts'

/** Asks clients for input in the way that their connection supports. */
export const multiRoundTripInput: ClientInput = {
  options: { inputTimeoutMs: 1, secrets: 1, stateTtlMs: 1, maxStateBytes: 1 },
  configure,
  createContext,
  suspend,
  describeError: describeAskError,
}

/** The contents of a `requestState`, which is sealed (encrypted): the recording, bound to its request. */
interface State {
  /** Digest of the method and the params that identify the request. */
  about: string
  principal: string | null
  /** When the state expires, in milliseconds since 1970. */
  expires: number
  recording: Recording
  /** The `requestState` of an `input_required` result that the handler returned itself. */
  own?: string | undefined
}

function configure({
  secrets,
  stateTtlMs = 900_000,
  maxStateBytes = 65_536,
}: InputOptions): ReplayMode {
  return { kind: 'replay', sealer: createSealer(secrets), stateTtlMs, maxStateBytes }
}

function createContext(
  server: ServerDefinition,
  message: JsonRpcRequest,
  exchange: Exchange,
): RequestContext | Promise<RequestContext> {
  const { params = {} } = message
  const { askMode } = exchange
  const ctx = new RequestContext(message, exchange, server.logs)
  if (params.inputResponses !== undefined) {
    ctx.inputResponses = requireObject(params, 'inputResponses')
  }
  if (askMode.kind !== 'replay' || params.requestState === undefined) return ctx
  return resume(ctx, params.requestState, askMode)
}

/**
 * Resumes a request after an earlier round.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` if the state has expired, or was not issued by this
 * server to this principal for this request; the error does not say which.
 */
async function resume(
  ctx: RequestContext,
  requestState: unknown,
  mode: ReplayMode,
): Promise<RequestContext> {
  const state = await openState(requestState, ctx, mode)
  ctx.replay = new ReplayInput(state.recording, ctx.inputResponses)
  ctx.requestState = state.own
  return ctx
}

/**
 * Handles a run that ended because the handler needs input.
 *
 * @returns The result to send to the client or, if the server can ask the client directly, the context with
 *   which the handler runs again.
 */
async function suspend(
  server: ServerDefinition,
  { reason }: Suspension,
  ctx: RequestContext,
  { facts: methodFacts }: MethodTarget,
): Promise<InputRequiredResult | RequestContext> {
  if (reason.kind === 'questions') return sealRecording(server, ctx, reason.replay)
  // The third kind is `result`: the handler returned an `input_required` result of its own
  const result =
    reason.kind === 'urls'
      ? urlsToResult(reason.error, ctx.exchange)
      : requireInputRequests(reason.result)
  if (!methodFacts.mayAsk) throw cannotAsk(ctx.method)
  const { exchange } = ctx
  const { inputRequests = {}, requestState } = result
  for (const request of Object.values(inputRequests)) requireAskable(request, exchange)
  if (exchange.askMode.kind !== 'push') return sealResult(ctx, result)
  const next = new RequestContext(ctx.message, exchange, ctx.logs)
  next.inputResponses = await exchange.askMode.askAll(inputRequests, ctx)
  next.requestState = requestState
  next.round = ctx.round + 1
  return next
}

/**
 * Creates the `input_required` result with the handler's input requests.
 *
 * @throws {ProtocolError} `INTERNAL_ERROR` if the state exceeds the size limit, or the replay is
 * non-deterministic: the handler made other requests than in an earlier run.
 */
async function sealRecording(
  server: ServerDefinition,
  ctx: RequestContext,
  replay: ReplayInput,
): Promise<InputRequiredResult> {
  try {
    const { requests, recording } = await replay.finish()
    const requestState = await sealState(ctx, recording)
    const inputRequests = degradeRequests(requests, ctx.exchange.revision)
    return { resultType: 'input_required', inputRequests, requestState }
  } catch (error) {
    // The client receives the error, but only the author can fix the handler
    if (error instanceof ProtocolError) server.report(error, ctx)
    throw error
  }
}

/** Seals the state of an `input_required` result that the handler returned itself. */
async function sealResult(
  ctx: RequestContext,
  result: InputRequiredResult,
): Promise<InputRequiredResult> {
  // An `input_required` result must not be cached
  const { ttlMs: _, cacheScope: __, ...uncached } = result
  const { inputRequests, requestState } = uncached
  uncached.requestState = await sealState(ctx, emptyRecording(), requestState)
  if (inputRequests) uncached.inputRequests = degradeRequests(inputRequests, ctx.exchange.revision)
  return uncached
}

/** Converts input requests to the client's revision. */
function degradeRequests(
  requests: Readonly<Record<string, InputRequest>>,
  revision: RevisionFacts,
): Record<string, InputRequest> {
  const degraded = Object.entries(requests).map(([key, request]) => {
    return [key, { ...request, params: degradeRequest(request.method, request.params, revision) }]
  })
  return Object.fromEntries(degraded) as Record<string, InputRequest>
}

function requireInputRequests(result: Result): InputRequiredResult {
  const inputRequired = result as InputRequiredResult
  if (inputRequired.inputRequests !== undefined || inputRequired.requestState !== undefined)
    return inputRequired
  throw new ProtocolError(INTERNAL_ERROR, 'The handler requested input without "inputRequests"')
}

/**
 * Creates the `input_required` result that asks the user to visit pages. In 2025-11-25, the error
 * itself carries the URLs and is thrown again.
 *
 * @throws {ProtocolError} `URL_ELICITATION_REQUIRED` in 2025-11-25.
 * @throws {SdkError} `CAPABILITY_MISSING` if the client does not support URLs.
 */
function urlsToResult(error: ProtocolError, exchange: Exchange): InputRequiredResult {
  if (!(error instanceof UrlElicitationRequired)) throw error
  const { revision, session } = exchange
  const { elicitations } = error
  if (elicitations.length === 0)
    throw new TypeError('UrlElicitationRequired needs at least one URL')
  const result = urlRequests(error)
  for (const request of Object.values(result.inputRequests ?? {})) requireAskable(request, exchange)
  // Where elicitations have ids (2025-11-25), the error itself carries the URLs
  if (!serverFacts(revision).elicitationIds) return result
  if (session)
    for (const { elicitationId } of elicitations) noteElicitation(session.record, elicitationId)
  throw error
}

/** Converts the error's URLs to input requests. */
export function urlRequests({ elicitations }: UrlElicitationRequired): InputRequiredResult {
  const requests = elicitations.map(({ elicitationId, mode, message, url }) => {
    const request: InputRequest = { method: 'elicitation/create', params: { mode, message, url } }
    return [elicitationId, request] as const
  })
  return { resultType: 'input_required', inputRequests: Object.fromEntries(requests) }
}

async function sealState(
  { message, exchange: { askMode, caller } }: RequestContext,
  recording: Recording,
  requestState?: string,
): Promise<string> {
  if (askMode.kind !== 'replay') throw cannotAsk(message.method)
  const { sealer, stateTtlMs, maxStateBytes } = askMode
  const state: State = {
    about: await requestDigest(message),
    principal: caller.principal ?? null,
    expires: Date.now() + stateTtlMs,
    recording,
    own: requestState,
  }
  const sealed = await sealer.seal(state)
  if (sealed.length <= maxStateBytes) return sealed
  throw new ProtocolError(
    INTERNAL_ERROR,
    `The recorded steps and answers take ${sealed.length} bytes, more than ${maxStateBytes}`,
  )
}

async function openState(
  sealed: unknown,
  { message, principal }: RequestContext,
  { sealer, maxStateBytes }: ReplayMode,
): Promise<State> {
  const canOpen = typeof sealed === 'string' && sealed.length <= maxStateBytes
  const state = (canOpen ? await sealer.open(sealed) : undefined) as State | undefined
  if (
    state &&
    state.expires > Date.now() &&
    state.principal === (principal ?? null) &&
    state.about === (await requestDigest(message))
  ) {
    return state
  }
  throw invalidParams('Invalid "requestState"')
}

/** Digest of the method and the params that identify the request. */
function requestDigest({ method, params = {} }: JsonRpcRequest): Promise<string> {
  const { name, uri, arguments: args } = params
  return digest([method, name, uri, args])
}
