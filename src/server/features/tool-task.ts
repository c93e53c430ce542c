/**
 * Options for running a tool as a task.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#tool-level-negotiation
 */
import type { InferOutput, StandardSchema } from '../../protocol/standard-schema.ts'
import type { Context } from '../request/context.ts'

/** Whether a tool can run as a task, in the specification's terms. */
export type TaskSupport = 'optional' | 'required' | 'forbidden'

/** How a tool runs as a task. */
export interface ToolTask<Input extends StandardSchema = StandardSchema> {
  readonly support: TaskSupport
  /**
   * Runs before the task is created (since 2026-07-28) and may ask the client for input. Recorded
   * answers and steps carry over to the handler: if it uses the same keys, it receives the recorded
   * values immediately.
   */
  before?(args: InferOutput<Input>, ctx: Context): Promise<unknown>
  /** How long the task is retained after its creation, in milliseconds. */
  readonly ttlMs?: number
  /** The suggested poll interval, in milliseconds. */
  readonly pollIntervalMs?: number
}
