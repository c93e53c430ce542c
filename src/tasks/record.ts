/**
 * What is known of a task: plain JSON, so that any store can keep it.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
import { emptyRecording, type Recording } from '../patterns/replay.ts'
import { INTERNAL_ERROR, type ErrorObject } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Revision } from '../protocol/revisions.ts'
import type { Auth, ClientFacts } from '../server/request/exchange.ts'
import type { InputRequest, Result, TaskStatus } from '../protocol/types.ts'

/** The request that a task carries out, and who made it. */
export interface TaskCall {
  readonly revision: Revision
  /** The params of `tools/call`, as they came. */
  readonly params: JsonObject
  readonly client: ClientFacts
  /** The authenticated subject, the only one who may know of the task. */
  readonly principal: string | null
  /** What else authorization found out. */
  readonly auth?: Auth | undefined
  /** The scopes that the tool needed, for when it was removed. */
  readonly scopes?: readonly string[] | undefined
  /** Set where no way leads to the client, so that every question is refused. */
  readonly unreachable?: true | undefined
}

/** A question that waits for its answer. */
export interface OpenInput {
  /** What the handler calls the question. */
  readonly key: string
  readonly request: InputRequest
  /** Digest of the question. */
  readonly asked: string
}

/** What came back for a question: an answer, or a refusal. */
export type InputOutcome = { readonly answer: JsonObject } | { readonly error: ErrorObject }

/** A task. */
export interface TaskRecord {
  readonly taskId: string
  /** Grows with every change that is kept. */
  readonly version: number
  readonly status: TaskStatus
  readonly statusMessage?: string | undefined
  /** Milliseconds since 1970, as all times here. */
  readonly createdAt: number
  readonly lastUpdatedAt: number
  /** Milliseconds from creation until the task may be forgotten. */
  readonly ttlMs: number
  /** How often clients should look, in milliseconds. */
  readonly pollIntervalMs: number
  readonly call: TaskCall
  /** What the handler asked and did so far. */
  readonly recording: Recording
  /** The questions that wait for answers, by the names that clients know them by. */
  readonly inputs: { readonly [wireKey: string]: OpenInput }
  /** Answers that no run of the handler has taken yet, by the handler's names. */
  readonly answers: { readonly [key: string]: InputOutcome & { readonly asked: string } }
  /** The names under which questions were asked so far, as none is ever used again. */
  readonly asked: readonly string[]
  /** State of an `input_required` result that the handler made itself. */
  readonly ownState?: string | undefined
  /** Whether the outcome comes from elsewhere, and the handler is done. */
  readonly external?: boolean | undefined
  /** Until when some process says that it is working on the task. */
  readonly leasedUntil?: number | undefined
  readonly result?: Result | undefined
  readonly error?: ErrorObject | undefined
}

/** How a new task is made. */
export interface NewTask {
  readonly taskId: string
  readonly call: TaskCall
  readonly ttlMs: number
  readonly pollIntervalMs: number
  /** What was asked and done before the task began. */
  readonly recording?: Recording | undefined
}

/** A new task, which is being worked on. */
export function newRecord(
  { taskId, call, ttlMs, pollIntervalMs, recording = emptyRecording() }: NewTask,
  now: number,
): TaskRecord {
  return {
    taskId,
    version: 1,
    status: 'working',
    createdAt: now,
    lastUpdatedAt: now,
    ttlMs,
    pollIntervalMs,
    call,
    recording,
    inputs: {},
    answers: {},
    asked: [],
  }
}

/**
 * A value as JSON keeps it: nobody else holds it, so nobody changes it.
 *
 * @throws {TypeError} when JSON cannot hold it.
 */
export function plain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T
}

/** Whether nothing can change about a task any more. */
export function isFinal({ status }: Pick<TaskRecord, 'status'>): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled'
}

/** What a task failed with that was not at its end when its time was over. */
export const TIME_IS_OVER: ErrorObject = {
  code: INTERNAL_ERROR,
  message: 'The task took longer than the time for which it is kept',
}

/** When a task may be forgotten, in milliseconds since 1970. */
export function expiresAt({ createdAt, ttlMs }: Pick<TaskRecord, 'createdAt' | 'ttlMs'>): number {
  return createdAt + ttlMs
}
