/**
 * The capabilities of servers that notify clients and complete arguments.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/discover
 */
import type { DeclareCapabilities } from './discover.ts'
import { canLog } from './logging.ts'

/** Declares completions and, where the client can be reached beside answers, changes and logs. */
export const declareWhole: DeclareCapabilities = (capabilities, registered, reached) => {
  const { tools, resources, resourceTemplates, prompts } = registered
  const completes = [...prompts.entries(), ...resourceTemplates.entries()].some(
    ([, entry]) => 'complete' in entry && entry.complete,
  )
  if (completes) capabilities.completions = {}
  if (!reached) return
  if (tools.used) capabilities.tools = { listChanged: true }
  if (prompts.used) capabilities.prompts = { listChanged: true }
  if (resources.used || resourceTemplates.used) {
    const { subscribe = true } = registered.capabilities.resources ?? {}
    capabilities.resources = { subscribe, listChanged: true }
  }
  // Where no level can be kept, no log is sent either
  if (canLog(registered)) capabilities.logging = {}
}
