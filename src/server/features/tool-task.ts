/**
 * How a tool is carried out as a task.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#tool-level-negotiation
 */
import type { InferOutput, StandardSchema } from '../../protocol/standard-schema.ts'
import type { Context } from '../request/context.ts'

/** Whether a tool can be carried out as a task, in the spec's words. */
export type TaskSupport = 'optional' | 'required' | 'forbidden'

/** How a tool is carried out as a task. */
export interface ToolTask<Input extends StandardSchema = StandardSchema> {
  readonly support: TaskSupport
  /**
   * Runs before the task is made, since 2026-07-28, and may ask the client. What it asked and did
   * holds for the handler too, which asks the same under the same keys and has the answers at once.
   */
  before?(args: InferOutput<Input>, ctx: Context): Promise<unknown>
  /** For how long the task is kept from its creation, in milliseconds. */
  readonly ttlMs?: number
  /** How often clients should look, in milliseconds. */
  readonly pollIntervalMs?: number
}
