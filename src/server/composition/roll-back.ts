/**
 * Restores a server after an extension could not be added.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extension-negotiation
 */
import type { ServerDefinition } from '../definition.ts'
import type { Entry, Registry } from '../registry.ts'
import { ExtensionTable } from './extend.ts'

/**
 * Runs a function that adds something to a server. If the function throws, restores the server.
 *
 * @throws What the function throws.
 */
export function addOrRollBack(definition: ServerDefinition, add: () => void): void {
  const { tasks, clients, verify, undo: outerUndo } = definition
  const restoreExtensions = saveExtensions(definition)
  const middleware = [...definition.middleware]
  const { tools, resources, resourceTemplates, prompts } = definition
  const restoreEntries = [
    saveRegistry(tools),
    saveRegistry(resources),
    saveRegistry(resourceTemplates),
    saveRegistry(prompts),
  ]
  const undo: (() => void)[] = []
  definition.undo = undo
  try {
    add()
    outerUndo?.push(...undo)
  } catch (error) {
    for (const remove of undo.reverse()) remove()
    Object.assign(definition, { tasks, clients, verify })
    restoreExtensions()
    definition.middleware.splice(0, Infinity, ...middleware)
    for (const restore of restoreEntries) restore()
    definition.resetCapabilities()
    throw error
  } finally {
    definition.undo = outerUndo
  }
}

/** Returns a function that restores the extensions of a server. */
function saveExtensions(definition: ServerDefinition): () => void {
  const { extensions } = definition
  if (!(extensions instanceof ExtensionTable)) return () => delete definition.extensions
  const saved = [...extensions.extensions.values()]
  return () => {
    const table = new ExtensionTable()
    for (const extension of saved) table.add(extension)
    definition.extensions = table
  }
}

/** Returns a function that restores the entries of a registry, in their order. */
function saveRegistry<T extends Entry>(registry: Registry<T>): () => void {
  const saved = [...registry.entries()]
  return () => {
    const current = [...registry.entries()]
    const kept = current.slice(0, saved.length)
    const isUnchanged = saved.every(([key, entry], index) => {
      return kept[index]?.[0] === key && kept[index][1] === entry
    })
    // Unchanged entries are not added again, because their owners change them through their registrations
    const removed = isUnchanged ? current.slice(saved.length) : current
    for (const [key] of removed) registry.remove(key)
    if (isUnchanged) return
    for (const [key, entry] of saved) registry.add(key, entry)
  }
}
