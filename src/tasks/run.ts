/**
 * Runs a tool's handler for a task once, and returns how the task changes as a result.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
import type { Awaitable } from '../patterns/awaitable.ts'
import type { Cancellation } from '../patterns/cancellation.ts'
import { ReplayInput, type Recording } from '../patterns/replay.ts'
import { digest } from '../patterns/digest.ts'
import { degradeRequest } from '../protocol/degrade-request.ts'
import { SdkError, ProtocolError, UrlElicitationRequired } from '../protocol/errors.ts'
import { INTERNAL_ERROR } from '../protocol/error-codes.ts'
import { findRevision } from '../protocol/revisions.ts'
import type {
  InputRequest,
  InputRequiredResult,
  Result,
  JsonObject,
  JsonRpcNotification,
  JsonRpcRequest,
} from '../protocol/types.ts'
import { serverFacts } from '../protocol/server-facts.ts'
import { requireAskable } from '../server/request/ask.ts'
import { encodeError } from '../server/engine/encode.ts'
import { urlRequests } from '../server/engine/multi-round-trip.ts'
import { settle } from '../server/engine/run.ts'
import type { Caller, Exchange } from '../server/request/exchange.ts'
import { Suspension, type Outcome } from '../server/request/outcome.ts'
import type { ServerDefinition } from '../server/definition.ts'
import { NEEDS_SESSION } from '../server/request/ask-mode.ts'
import { callTool } from '../server/features/tools.ts'
import { observeRun } from './observed-run.ts'
import { TaskContext, unreachableReason, type StatusReporter } from './context.ts'
import { cloneJson, type TaskCall, type TaskRecord } from './record.ts'
import { ask, finish, awaitOutcome, type NewInput, type Transition } from './state.ts'

/** The operations that a run needs from the process that runs it. */
export interface RunHost extends StatusReporter {
  readonly cancellation: Cancellation
  /** Sends a message to the clients that currently wait for the result. Used only in revision 2025-11-25. */
  notify(message: JsonRpcNotification): void
  /** Stores the recording before the handler continues. */
  save(recording: Recording): Promise<void>
}

/** The properties of the platform that handlers receive. */
export type Platform = Pick<Caller, 'env' | 'waitUntil'>

/** Runs the handler, and returns the resulting transition. Never rejects, because an error makes the task fail. */
export async function runTask(
  server: ServerDefinition,
  task: TaskRecord,
  host: RunHost,
  platform: Platform,
): Promise<Transition> {
  const { call, taskId } = task
  const exchange = exchangeOf(call, host, platform)
  const { requestState: _, inputResponses: __, task: ___, ...params } = cloneJson(call.params)
  const message: JsonRpcRequest = { jsonrpc: '2.0', id: taskId, method: 'tools/call', params }
  const { recording, responses } = readReplayData(task)
  const replay = new ReplayInput(recording, responses, { save: (current) => host.save(current) })
  const ctx = new TaskContext(message, exchange, server.logs, replay, host, call.unreachable)
  ctx.inputResponses = Object.keys(responses).length > 0 ? responses : undefined
  ctx.requestState = task.ownState
  ctx.server = server
  // Errors of cancelled work are not reported
  const report = (error: unknown): void => {
    if (!host.cancellation.cancelled) server.report(error, ctx)
  }
  try {
    const run = (): Awaitable<Outcome> =>
      settle(ctx, () => callTool({ tools: server.tools, report }, params, ctx))
    const { observe } = server
    const outcome = await (observe ? observeRun(observe, exchange, message, run) : run())
    return outcome instanceof Suspension
      ? await askForInput(outcome, replay, ctx)
      : await transitionOf(outcome, replay, ctx)
  } catch (error) {
    return finish({ error: encodeError(server, error, exchange.revision, report) })
  }
}

/**
 * Creates the function that decides whether a result makes the task `failed`. In 2025-11-25, a result with
 * `isError` makes the task `failed`; since 2026-07-28, no result does.
 */
export function createFailureTest({ revision }: TaskCall): (result: Result) => boolean {
  const isCore = findRevision(revision)?.tasks === 'core'
  return ({ isError }) => isCore && isError === true
}

/**
 * Creates the exchange of a task's run. The messages that the run sends are received by the clients that wait
 * for the result. The run cannot ask a client directly, because the task may outlive every connection.
 */
function exchangeOf(
  { revision, client, principal, auth }: TaskCall,
  { cancellation, notify }: RunHost,
  platform: Platform,
): Exchange {
  const facts = findRevision(revision)
  if (!facts) throw new TypeError(`The task has an unknown revision "${revision}"`)
  const caller: Caller = { ...platform, principal: principal ?? undefined, auth }

  return {
    revision: facts,
    client,
    caller,
    cancellation,
    // All messages are sent, because each waiting request filters them by its own log level
    logLevel: 'debug',
    // Only clients with the tasks of 2025-11-25 can receive the messages that a handler sends
    send: facts.tasks === 'core' ? notify : () => {},
    askMode: NEEDS_SESSION,
  }
}

/** The transition for a result that needs no input from the client. */
async function transitionOf(
  result: Result,
  replay: ReplayInput,
  { id }: TaskContext,
): Promise<Transition> {
  const { resultType = 'complete' } = result
  if (resultType === 'complete') {
    const outcome = { result: cloneJson(result) }
    return (task, now) => finish(outcome, createFailureTest(task.call))(task, now)
  }
  if (resultType !== 'task' || result.taskId !== id) {
    throw new TypeError(`A task cannot end with a result of type "${resultType}"`)
  }
  const { recording } = await replay.finish()
  return awaitOutcome(recording)
}

/** Requests the input that a suspended run needs from the client. */
async function askForInput(
  { reason }: Suspension,
  replay: ReplayInput,
  { exchange, input }: TaskContext,
): Promise<Transition> {
  if (reason.kind === 'urls') {
    const { error } = reason
    if (!(error instanceof UrlElicitationRequired) || serverFacts(exchange.revision).elicitationIds)
      throw error
    const { recording } = await replay.finish()
    return requestReturnedInput(urlRequests(error), recording, exchange)
  }
  const { requests, recording } = await replay.finish()
  if (reason.kind === 'questions') {
    const newInputs = Object.entries(requests).map(([key, request]): [string, NewInput] => {
      return [
        key,
        { request: degradeInputRequest(request, exchange), digest: recording.open[key] as string },
      ]
    })
    return ask(Object.fromEntries(newInputs), recording)
  }
  if (input.refuses) throw new SdkError('UNSUPPORTED', unreachableReason(exchange))
  return requestReturnedInput(reason.result as InputRequiredResult, recording, exchange)
}

/** Requests the input of an `input_required` result that the handler returned itself. */
async function requestReturnedInput(
  { inputRequests = {}, requestState }: InputRequiredResult,
  recording: Recording,
  exchange: Exchange,
): Promise<Transition> {
  const newInputs: [string, NewInput][] = []
  for (const [key, request] of Object.entries(inputRequests)) {
    requireAskable(request, exchange)
    newInputs.push([
      key,
      { request: degradeInputRequest(request, exchange), digest: await digest(request) },
    ])
  }
  if (newInputs.length === 0) {
    throw new ProtocolError(INTERNAL_ERROR, 'The handler requested input without "inputRequests"')
  }
  const open = Object.fromEntries(newInputs.map(([key, input]) => [key, input.digest]))
  return ask(Object.fromEntries(newInputs), { ...recording, open }, requestState)
}

function degradeInputRequest(
  { method, params }: InputRequest,
  { revision }: Exchange,
): InputRequest {
  const degraded = degradeRequest(method, params, revision)
  return degraded ? { method, params: degraded } : { method }
}

/** Returns the recording of earlier runs, and the responses that have arrived since the last run. */
function readReplayData({ recording, answers }: TaskRecord): {
  recording: Recording
  responses: { [key: string]: JsonObject }
} {
  // Without a prototype, so that any text can be a key
  const responses: { [key: string]: JsonObject } = Object.create(null)
  const recordedAnswers: Recording['answers'] = Object.assign(
    Object.create(null),
    recording.answers,
  )
  for (const [key, outcome] of Object.entries(answers)) {
    if ('answer' in outcome) responses[key] = outcome.answer
    else recordedAnswers[key] = outcome
  }
  return { recording: { ...recording, answers: recordedAnswers }, responses }
}
