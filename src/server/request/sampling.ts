/**
 * Sampling: requesting completions from the client's model.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/sampling
 */
import { SAMPLING_CONTEXT, supports } from '../../protocol/revision-features.ts'
import { samplingFault } from '../../protocol/sampling.ts'
import type { CreateMessageParams, CreateMessageResult, JsonObject } from '../../protocol/types.ts'
import { askClient, type InputRequester } from './ask.ts'

/** Whether an object has the members of a sampling result. */
export function isSamplingResult({ model, role, content }: JsonObject): boolean {
  return (
    typeof model === 'string' &&
    typeof role === 'string' &&
    typeof content === 'object' &&
    content !== null
  )
}

/** Implements `Context.sample`. */
export async function sample(
  requester: InputRequester,
  { key, ...params }: CreateMessageParams & { key?: string },
): Promise<CreateMessageResult> {
  const fault = samplingFault(params)
  if (fault) throw new TypeError(`Cannot sample: ${fault}`)
  const { client, revision } = requester.exchange
  // Only clients that declare `sampling.context` accept `includeContext`. Before 2025-11-25, this
  // capability did not exist
  if (supports(revision, SAMPLING_CONTEXT) && !client.capabilities.sampling?.context)
    delete params.includeContext
  const request = { method: 'sampling/createMessage', params: params as JsonObject } as const
  return (await askClient(requester, request, key, isSamplingResult)) as CreateMessageResult
}
