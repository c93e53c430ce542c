/**
 * Requests suggestions from a server that has completions.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion
 */
import type { CompletionReference } from 'edgewise/browser'
import type { Suggest } from '../form/arguments.ts'
import type { Workspace } from '../workspace.ts'

/** Creates a function that suggests values for a prompt's arguments or a template's variables. */
export function suggestFor(workspace: Workspace, ref: CompletionReference): Suggest | undefined {
  if (!workspace.client.serverCapabilities?.completions) return undefined
  return async (argument, others) => {
    return (await workspace.client.complete(ref, argument, others)).values
  }
}
