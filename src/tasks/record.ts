/**
 * The stored record of a task: plain JSON, so that any store can hold it.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
import { emptyRecording, type Recording } from '../patterns/replay.ts'
import { INTERNAL_ERROR } from '../protocol/error-codes.ts'
import type { Revision } from '../protocol/revisions.ts'
import type { Auth, ClientFacts } from '../server/request/exchange.ts'
import type {
  InputRequest,
  Result,
  TaskStatus,
  ErrorObject,
  JsonObject,
} from '../protocol/types.ts'

/** The request that a task runs, and its caller. */
export interface TaskCall {
  readonly revision: Revision
  /** The params of `tools/call`, as received. */
  readonly params: JsonObject
  readonly client: ClientFacts
  /** The authenticated principal. No other principal may access the task. */
  readonly principal: string | null
  /** Details about the caller's authorization. */
  readonly auth?: Auth | undefined
  /** The scopes that the tool requires. Stored with the call, because the tool may be removed. */
  readonly scopes?: readonly string[] | undefined
  /** Set if the client cannot be reached, so that every request for input is rejected. */
  readonly unreachable?: true | undefined
}

/** An input request that the client has not answered. */
export interface OpenInput {
  /** The key that the handler uses for the request. */
  readonly key: string
  readonly request: InputRequest
  /** The digest of the request. */
  readonly digest: string
}

/** The outcome of an input request: the client's response, or an error. */
export type InputOutcome = { readonly answer: JsonObject } | { readonly error: ErrorObject }

/** A task. */
export interface TaskRecord {
  /** The id of the task, which clients see. */
  readonly taskId: string
  /** The version of the record, which is incremented with every stored change. */
  readonly version: number
  /** The state of the task. */
  readonly status: TaskStatus
  /** The status message for users, if there is one. */
  readonly statusMessage?: string | undefined
  /** When the task was created, in milliseconds since 1970. */
  readonly createdAt: number
  /** When the task last changed, in milliseconds since 1970. */
  readonly lastUpdatedAt: number
  /** How long the task is stored after its creation, in milliseconds. */
  readonly ttlMs: number
  /** The poll interval that is suggested to clients, in milliseconds. */
  readonly pollIntervalMs: number
  /** The request that the task runs, and its caller. */
  readonly call: TaskCall
  /** The steps and requests that the handler has completed so far. */
  readonly recording: Recording
  /** The pending requests for input, by the keys that clients see. */
  readonly inputs: { readonly [wireKey: string]: OpenInput }
  /** Responses that no run of the handler has consumed yet, by the handler's keys. */
  readonly answers: { readonly [key: string]: InputOutcome & { readonly digest: string } }
  /** All keys that the task's requests for input have used. No key is used twice. */
  readonly usedKeys: readonly string[]
  /** The `requestState` of an `input_required` result that the handler itself returned. */
  readonly ownState?: string | undefined
  /** Whether the outcome is reported externally after the handler has returned. */
  readonly external?: boolean | undefined
  /** When the lease of the process that runs the task expires, in milliseconds since 1970. */
  readonly leasedUntil?: number | undefined
  /** The id of the process that runs the task. Changes by a run in any other process are ignored. */
  readonly leasedBy?: string | undefined
  /** The result, once the task has completed. */
  readonly result?: Result | undefined
  /** The error, once the task has failed. */
  readonly error?: ErrorObject | undefined
}

/** The properties of a new task. */
export interface NewTask {
  readonly taskId: string
  readonly call: TaskCall
  readonly ttlMs: number
  readonly pollIntervalMs: number
  /** The steps and requests that were completed before the task was created. */
  readonly recording?: Recording | undefined
}

/** Creates the record of a new task, in the `working` state. */
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
    usedKeys: [],
  }
}

/**
 * Returns a copy of a value, as parsed JSON. No other code can change the copy.
 *
 * @throws {TypeError} If the value cannot be represented as JSON.
 */
export function cloneJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T
}

/** Whether a task is in a final state. */
export function isFinal({ status }: Pick<TaskRecord, 'status'>): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled'
}

/** Whether a task has work to do, and waits neither for input nor for an external outcome. */
export function isReadyToRun({
  status,
  external,
}: Pick<TaskRecord, 'status' | 'external'>): boolean {
  return status === 'working' && !external
}

/** The error of a task that expired before it finished. */
export const TASK_EXPIRED: ErrorObject = {
  code: INTERNAL_ERROR,
  message: 'The task expired before it finished',
}

/** When a task expires and is deleted, in milliseconds since 1970. */
export function expiresAt({ createdAt, ttlMs }: Pick<TaskRecord, 'createdAt' | 'ttlMs'>): number {
  return createdAt + ttlMs
}
