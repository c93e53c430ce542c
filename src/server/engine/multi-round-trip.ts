/**
 * Rounds of input: how what a handler asked and did so far travels through the client.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
import { digest } from '../../patterns/digest.ts'
import { emptyRecording, ReplayInput, type Recording } from '../../patterns/replay.ts'
import { createSealer, type Secrets } from '../../patterns/sealed-state.ts'
import { degradeRequest } from '../../protocol/degrade-request.ts'
import {
  INTERNAL_ERROR,
  ProtocolError,
  type UrlElicitationRequired,
} from '../../protocol/errors.ts'
import type { JsonRpcRequest } from '../../protocol/jsonrpc.ts'
import type { InputRequest, InputRequiredResult, Result } from '../../protocol/types.ts'
import { serverFacts } from '../../protocol/server-facts.ts'
import { requireAskable } from '../request/ask.ts'
import { RequestContext } from '../request/request-context.ts'
import { noteElicitation } from '../../session/url-elicitations.ts'
import type { Exchange, Rounds } from '../request/exchange.ts'
import { invalidParams, optionalObject } from '../request/params.ts'
import { cannotAsk } from './run.ts'

/** How clients are asked while a request of theirs is answered. */
export interface InputOptions {
  /** Milliseconds in which a client must answer what it is asked; 300,000 by default. */
  askTimeoutMs?: number
  /**
   * Secrets of 16 characters or more that seal what travels through clients; the first seals, all
   * open. Every instance of a server needs the same. By default each handler, or connection, makes
   * its own, so that rounds of input work only where they began.
   */
  secrets?: Secrets
  /** Milliseconds for which a round of input can be continued; 900,000 by default. */
  stateTtlMs?: number
  /** The longest state of a round of input, in bytes; 65,536 by default. */
  maxStateBytes?: number
}

/**
 * Makes what a host needs for rounds of input.
 *
 * @throws {McpError} `INVALID_USE` when a secret is too short.
 */
export function createRounds({
  secrets,
  stateTtlMs = 900_000,
  maxStateBytes = 65_536,
}: InputOptions): Rounds {
  return { sealer: createSealer(secrets), stateTtlMs, maxStateBytes }
}

/** What is sealed into `requestState`: the recording, bound to the request that it belongs to. */
interface State {
  /** Digest of the method and of what the request is about. */
  about: string
  principal: string | null
  /** Milliseconds since 1970 after which the state is refused. */
  expires: number
  recording: Recording
  /** The state of an `input_required` result that the handler made itself. */
  own?: string | undefined
}

/**
 * The context of a request that may be one of several rounds.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` when `requestState` is not what this server gave to this
 *   principal for this very request, or is too old; it does not say which.
 */
export async function openRound(
  message: JsonRpcRequest,
  exchange: Exchange,
): Promise<RequestContext> {
  const { params = {} } = message
  const { rounds } = exchange
  const inputResponses = optionalObject(params, 'inputResponses')
  const ctx = new RequestContext(message, exchange)
  ctx.inputResponses = inputResponses
  if (!rounds || params.requestState === undefined) return ctx
  const state = await openState(params.requestState, message, exchange, rounds)
  ctx.replay = new ReplayInput(state.recording, inputResponses)
  ctx.requestState = state.own
  return ctx
}

/**
 * The result that asks the client for what the handler asked.
 *
 * @throws {ProtocolError} `INTERNAL_ERROR` when the state grew over the limit, or the handler asked
 *   something else than in an earlier run.
 */
export async function closeRound(
  message: JsonRpcRequest,
  exchange: Exchange,
  replay: ReplayInput,
): Promise<InputRequiredResult> {
  const { requests, recording } = await replay.finish()
  if (replay.divergence) throw replay.divergence
  const requestState = await sealState(message, exchange, recording)
  const inputRequests = knownRequests(requests, exchange)
  return { resultType: 'input_required', inputRequests, requestState }
}

/**
 * Checks and seals an `input_required` result that a handler made itself.
 *
 * @throws {ProtocolError} `INTERNAL_ERROR` when it asks for nothing, or for what cannot be asked.
 * @throws {McpError} `CAPABILITY_MISSING` when the client did not declare what it asks for.
 */
export async function sealOwnRound(
  message: JsonRpcRequest,
  exchange: Exchange,
  result: Result,
): Promise<InputRequiredResult> {
  // What asks is not to be cached
  const { ttlMs: _, cacheScope: __, ...asking } = requireAsking(result)
  const { inputRequests, requestState } = asking
  for (const request of Object.values(inputRequests ?? {})) requireAskable(request, exchange)
  asking.requestState = await sealState(message, exchange, emptyRecording(), requestState)
  if (inputRequests) asking.inputRequests = knownRequests(inputRequests, exchange)
  return asking
}

/** What is asked, in the words of the client's revision. */
function knownRequests(
  requests: Readonly<Record<string, InputRequest>>,
  { revision }: Exchange,
): Record<string, InputRequest> {
  const known = Object.entries(requests).map(([key, request]) => {
    return [key, { ...request, params: degradeRequest(request.method, request.params, revision) }]
  })
  return Object.fromEntries(known) as Record<string, InputRequest>
}

/** The most rounds in which one request may ask, where the client is asked directly. */
const MAX_ROUNDS = 10

/**
 * Asks the client directly for what an `input_required` result that a handler made itself asks for,
 * and gives the context for its next run.
 *
 * @throws {ProtocolError} `INTERNAL_ERROR` when it asks for nothing, or once too often.
 * @throws {McpError} `CAPABILITY_MISSING` when the client did not declare what it asks for.
 */
export async function askOwnRound(
  message: JsonRpcRequest,
  { exchange, round }: RequestContext,
  result: Result,
): Promise<RequestContext> {
  const { inputRequests = {}, requestState } = requireAsking(result)
  if (round === MAX_ROUNDS) {
    throw new ProtocolError(INTERNAL_ERROR, `The handler asked in more than ${MAX_ROUNDS} rounds`)
  }
  const asked = Object.entries(inputRequests).map(async ([key, request]) => {
    requireAskable(request, exchange)
    return [key, await exchange.ask?.(request, exchange.cancellation.signal)] as const
  })
  const next = new RequestContext(message, exchange)
  next.inputResponses = Object.fromEntries(await Promise.all(asked))
  next.requestState = requestState
  next.round = round + 1
  return next
}

function requireAsking(result: Result): InputRequiredResult {
  const asking = result as InputRequiredResult
  if (asking.inputRequests !== undefined || asking.requestState !== undefined) return asking
  throw new ProtocolError(INTERNAL_ERROR, 'The handler asked for input without saying which')
}

/**
 * Says in the way of the client's revision that the user must visit pages first: by an error that
 * names them, or by a round of input that asks for them.
 *
 * @throws {ProtocolError} `URL_ELICITATION_REQUIRED` in 2025-11-25.
 * @throws {McpError} `CAPABILITY_MISSING` when the client opens no URLs.
 */
export async function requireUrls(
  required: UrlElicitationRequired,
  exchange: Exchange,
): Promise<InputRequiredResult> {
  const { revision, session } = exchange
  if (required.elicitations.length === 0)
    throw new TypeError('No page was named that must be visited')
  const inputRequests = Object.fromEntries(
    required.elicitations.map(({ elicitationId, mode, message: why, url }) => {
      const request: InputRequest = {
        method: 'elicitation/create',
        params: { mode, message: why, url },
      }
      return [elicitationId, request]
    }),
  )
  for (const request of Object.values(inputRequests)) requireAskable(request, exchange)
  if (!serverFacts(revision).elicitationIds) return { resultType: 'input_required', inputRequests }
  if (session) for (const id of Object.keys(inputRequests)) noteElicitation(session.record, id)
  throw required
}

async function sealState(
  message: JsonRpcRequest,
  { rounds, caller }: Exchange,
  recording: Recording,
  own?: string,
): Promise<string> {
  if (!rounds) throw cannotAsk(message)
  const state: State = {
    about: await subject(message),
    principal: caller.principal ?? null,
    expires: Date.now() + rounds.stateTtlMs,
    recording,
    own,
  }
  const sealed = await rounds.sealer.seal(state)
  if (sealed.length <= rounds.maxStateBytes) return sealed
  throw new ProtocolError(
    INTERNAL_ERROR,
    `The recorded steps and answers take ${sealed.length} bytes, more than the limit of ${rounds.maxStateBytes}`,
  )
}

async function openState(
  text: unknown,
  message: JsonRpcRequest,
  { caller }: Exchange,
  { sealer, maxStateBytes }: Rounds,
): Promise<State> {
  const opened =
    typeof text === 'string' && text.length <= maxStateBytes ? await sealer.open(text) : undefined
  const state = opened as State | undefined
  if (
    state &&
    state.expires > Date.now() &&
    state.principal === (caller.principal ?? null) &&
    state.about === (await subject(message))
  ) {
    return state
  }
  throw invalidParams('Invalid "requestState"')
}

/** Digest of the method and of every param that is not about the round itself. */
function subject({ method, params = {} }: JsonRpcRequest): Promise<string> {
  const { name, uri, arguments: given } = params
  return digest([method, name, uri, given])
}
