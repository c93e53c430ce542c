/**
 * Synchronizes part of a server's registries with an external source.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
 */
import type { StandardSchema } from '../../protocol/standard-schema.ts'
import type { Notifier } from '../notifier.ts'
import type { PromptEntry } from '../features/prompts.ts'
import type { Entry, ReplaceableRegistration, Registry } from '../registry.ts'
import type { ResourceEntry, ResourceTemplateEntry, Resources } from '../features/resources.ts'
import type { ToolEntry } from '../features/tools.ts'

/** The entries of an external source, by the names or URIs under which this server offers them. */
export interface SourceEntries {
  /** Lists whose capability is declared even if they are empty. */
  readonly lists?: readonly ('tools' | 'prompts' | 'resources')[]
  readonly tools: ReadonlyMap<string, ToolEntry>
  readonly prompts: ReadonlyMap<string, PromptEntry>
  readonly resources: ReadonlyMap<string, ResourceEntry>
  readonly resourceTemplates: ReadonlyMap<string, ResourceTemplateEntry>
}

const KINDS = ['tools', 'prompts', 'resources', 'resourceTemplates'] as const

/** An external source without entries. */
export const NO_ENTRIES: SourceEntries = {
  tools: new Map(),
  prompts: new Map(),
  resources: new Map(),
  resourceTemplates: new Map(),
}

/** Accepts any value: arguments of mirrored entries are validated by their source. */
export const UNCHECKED: StandardSchema = {
  '~standard': {
    version: 1,
    vendor: 'edgewise',
    validate: (value) => ({ value }),
    jsonSchema: { input: () => ({}), output: () => ({}) },
  },
}

interface Registries extends Resources {
  readonly tools: Registry<ToolEntry>
  readonly prompts: Registry<PromptEntry>
  readonly notify?: Notifier
}

/**
 * Creates a function that synchronizes registries with an external source: it adds new entries,
 * replaces changed ones, and removes entries that it added and that no longer exist.
 *
 * The function throws a `TypeError` when a key is already taken. The first call then adds nothing;
 * later calls still add all other entries.
 *
 * @param differs Whether an entry must replace the previous entry with the same key.
 */
export function createMirror(
  registries: Registries,
  differs: (previous: Entry, next: Entry) => boolean,
): (entries: SourceEntries) => void {
  const mirrorTools = mirrorRegistry(registries.tools, differs)
  const mirrorPrompts = mirrorRegistry(registries.prompts, differs)
  const mirrorResources = mirrorRegistry(registries.resources, differs)
  const mirrorTemplates = mirrorRegistry(registries.resourceTemplates, differs)
  let hasStarted = false
  return (entries) => {
    // Checked first, because an addition cannot be rolled back silently: it is announced to clients,
    // and its capability stays declared
    if (!hasStarted) requireFree(registries, entries)
    hasStarted = true
    const conflicts: unknown[] = []
    registries.notify?.batch(() => {
      for (const list of entries.lists ?? []) registries[list].declare()
      conflicts.push(
        ...mirrorTools(entries.tools),
        ...mirrorPrompts(entries.prompts),
        ...mirrorResources(entries.resources),
        ...mirrorTemplates(entries.resourceTemplates),
      )
    })
    if (conflicts.length > 0) throw conflicts[0]
  }
}

/** Checks that all entries can be added. */
function requireFree(registries: Registries, entries: SourceEntries): void {
  for (const kind of KINDS) {
    for (const key of entries[kind].keys()) registries[kind].requireFree(key)
  }
}

/**
 * Creates a function that synchronizes one registry, and returns the errors of entries that it could
 * not add.
 */
function mirrorRegistry<T extends Entry>(
  registry: Registry<T>,
  differs: (previous: T, next: T) => boolean,
): (entries: ReadonlyMap<string, T>) => unknown[] {
  const added = new Map<string, { registration: ReplaceableRegistration<T>; entry: T }>()
  return (entries) => {
    const conflicts: unknown[] = []
    for (const [key, { registration }] of added) {
      if (entries.has(key)) continue
      registration.remove()
      added.delete(key)
    }
    for (const [key, entry] of entries) {
      const existing = added.get(key)
      try {
        if (!existing) added.set(key, { registration: registry.add(key, entry), entry })
        else if (differs(existing.entry, entry)) {
          existing.registration.replace(entry)
          added.set(key, { registration: existing.registration, entry })
        }
      } catch (error) {
        conflicts.push(error)
      }
    }
    return conflicts
  }
}
