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

/** The entries of an external source, keyed as they are registered here. */
export interface Offer {
  /** Lists whose capability is declared even if they are empty. */
  readonly lists?: readonly ('tools' | 'prompts' | 'resources')[]
  readonly tools: ReadonlyMap<string, ToolEntry>
  readonly prompts: ReadonlyMap<string, PromptEntry>
  readonly resources: ReadonlyMap<string, ResourceEntry>
  readonly resourceTemplates: ReadonlyMap<string, ResourceTemplateEntry>
}

const KINDS = ['tools', 'prompts', 'resources', 'resourceTemplates'] as const

/** An empty offer. */
export const NO_OFFER: Offer = {
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
 * Creates a function that synchronizes registries with an offer: it adds new entries, replaces
 * changed ones, and removes entries that it added and that no longer exist.
 *
 * The function throws a `TypeError` when a key is already taken. The first call then adds nothing;
 * later calls still add all other entries.
 *
 * @param differs Whether an entry must replace the one from the previous offer.
 */
export function createMirror(
  registries: Registries,
  differs: (one: Entry, other: Entry) => boolean,
): (offer: Offer) => void {
  const tools = mirrored(registries.tools, differs)
  const prompts = mirrored(registries.prompts, differs)
  const resources = mirrored(registries.resources, differs)
  const templates = mirrored(registries.resourceTemplates, differs)
  let isBegun = false
  return (offer) => {
    // Additions are announced, and their capability is declared from then on
    if (!isBegun) requireFree(registries, offer)
    isBegun = true
    const taken: unknown[] = []
    registries.notify?.batch(() => {
      for (const list of offer.lists ?? []) registries[list].offer()
      taken.push(
        ...tools(offer.tools),
        ...prompts(offer.prompts),
        ...resources(offer.resources),
        ...templates(offer.resourceTemplates),
      )
    })
    if (taken.length > 0) throw taken[0]
  }
}

/** Checks that all entries of an offer can be added. */
function requireFree(registries: Registries, offer: Offer): void {
  for (const kind of KINDS) {
    for (const key of offer[kind].keys()) registries[kind].requireFree(key)
  }
}

/** Synchronizes one registry; returns the errors of entries that it could not add. */
function mirrored<T extends Entry>(
  registry: Registry<T>,
  differs: (one: T, other: T) => boolean,
): (offered: ReadonlyMap<string, T>) => unknown[] {
  const mine = new Map<string, { place: ReplaceableRegistration<T>; entry: T }>()
  return (offered) => {
    const taken: unknown[] = []
    for (const [key, { place }] of mine) {
      if (offered.has(key)) continue
      place.remove()
      mine.delete(key)
    }
    for (const [key, entry] of offered) {
      const known = mine.get(key)
      try {
        if (!known) mine.set(key, { place: registry.add(key, entry), entry })
        else if (differs(known.entry, entry)) {
          known.place.replace(entry)
          mine.set(key, { place: known.place, entry })
        }
      } catch (error) {
        taken.push(error)
      }
    }
    return taken
  }
}
