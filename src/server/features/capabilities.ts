/**
 * Capabilities of servers with resources, prompts, notifications and argument completion.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/discover
 */
import type { DeclareCapabilities } from './discover.ts'
import { canLog } from './logging.ts'

/**
 * Declares resources, prompts and completions and, if the server can send notifications, list changes and
 * logging.
 */
export const declareCapabilities: DeclareCapabilities = (capabilities, registered, canPush) => {
  const { tools, resources, resourceTemplates, prompts } = registered
  const changes = canPush ? { listChanged: true } : {}
  if (tools.used) capabilities.tools = { ...changes }
  if (prompts.used) capabilities.prompts = { ...changes }
  if (resources.used || resourceTemplates.used) {
    const { subscribe = true } = registered.capabilities.resources ?? {}
    capabilities.resources = canPush ? { subscribe, ...changes } : {}
  }
  const hasCompleters = [...prompts.entries(), ...resourceTemplates.entries()].some(
    ([, entry]) => 'complete' in entry && entry.complete,
  )
  if (hasCompleters) capabilities.completions = {}
  // Not declared if the server cannot push: no log level can be stored, so no log messages are sent
  if (canPush && canLog(registered)) capabilities.logging = {}
}
