/**
 * Asking the client's model.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/sampling
 */
import type { JsonObject } from '../../protocol/jsonrpc.ts'
import { samplingFault } from '../../protocol/sampling.ts'
import type { CreateMessageParams, CreateMessageResult } from '../../protocol/types.ts'
import { askClient, type Asker } from './ask.ts'

/** Whether an object is what a model answers, as far as its members go. */
export function isMessage({ model, role, content }: JsonObject): boolean {
  return (
    typeof model === 'string' &&
    typeof role === 'string' &&
    typeof content === 'object' &&
    content !== null
  )
}

/** Asks the client's model, as `Context` says. */
export async function sample(
  asker: Asker,
  { key, ...params }: CreateMessageParams & { key?: string },
): Promise<CreateMessageResult> {
  const fault = samplingFault(params)
  if (fault) throw new TypeError(`Cannot sample: ${fault}`)
  const { client, revision } = asker.exchange
  // Context of other servers is for clients that say they share it; before 2025-11-25 none could.
  if (revision.icons && !client.capabilities.sampling?.context) delete params.includeContext
  const request = { method: 'sampling/createMessage', params: params as JsonObject } as const
  return (await askClient(asker, request, key, isMessage)) as CreateMessageResult
}
