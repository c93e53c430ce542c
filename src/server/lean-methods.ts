/**
 * The methods of a server that answers calls.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/schema
 */
import type { Method } from './definition.ts'
import { discover } from './features/discover.ts'
import { lister } from './features/lists.ts'
import { getPrompt } from './features/prompts.ts'
import { readResource } from './features/resources.ts'
import { callTool } from './features/tools.ts'

/** What answers each of them. */
export const leanMethods: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['ping', () => ({})],
  ['server/discover', discover],
  ['tools/list', lister('tools')],
  ['tools/call', callTool],
  ['resources/list', lister('resources')],
  ['resources/templates/list', lister('resourceTemplates')],
  ['resources/read', readResource],
  ['prompts/list', lister('prompts')],
  ['prompts/get', getPrompt],
])
