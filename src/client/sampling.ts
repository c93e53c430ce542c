/**
 * Sampling: the server asks the client's model.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/sampling
 */
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { CreateMessageParams } from '../protocol/types.ts'
import type { Handlers, InputContext } from './options.ts'

/** Has the model answer. */
export async function sample(
  handler: Handlers['onSample'],
  params: CreateMessageParams,
  context: InputContext,
): Promise<JsonObject> {
  return { ...(await handler?.(params, context)) }
}
