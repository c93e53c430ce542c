/**
 * Requests suggestions from a server that has completions.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion
 */
import type { Client, CompletionReference } from 'edgewise/browser'
import type { Suggest } from '../form/arguments.ts'

/** Creates a function that suggests values for a prompt's arguments or a template's variables. */
export function suggestFor(client: Client, ref: CompletionReference): Suggest | undefined {
  if (!client.serverCapabilities?.completions) return undefined
  return async (argument, others) => (await client.complete(ref, argument, others)).values
}
