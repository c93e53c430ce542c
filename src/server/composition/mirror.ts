/**
 * Keeps part of a server's registries in line with what is offered elsewhere.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
 */
import type { StandardSchema } from '../../protocol/standard-schema.ts'
import type { Notifier } from '../notifier.ts'
import type { PromptEntry } from '../features/prompts.ts'
import type { Entry, ReplaceableRegistration, Registry } from '../registry.ts'
import type { ResourceEntry, ResourceTemplateEntry, Resources } from '../features/resources.ts'
import type { ToolEntry } from '../features/tools.ts'

/** What is offered elsewhere, by the key under which it is registered here. */
export interface Offer {
  /** Lists that are offered even if they are empty. */
  readonly lists?: readonly ('tools' | 'prompts' | 'resources')[]
  readonly tools: ReadonlyMap<string, ToolEntry>
  readonly prompts: ReadonlyMap<string, PromptEntry>
  readonly resources: ReadonlyMap<string, ResourceEntry>
  readonly resourceTemplates: ReadonlyMap<string, ResourceTemplateEntry>
}

const KINDS = ['tools', 'prompts', 'resources', 'resourceTemplates'] as const

/** Nothing. */
export const NO_OFFER: Offer = {
  tools: new Map(),
  prompts: new Map(),
  resources: new Map(),
  resourceTemplates: new Map(),
}

/** Takes any value: what is mirrored is checked where it comes from. */
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
 * Makes a function that brings registries in line with an offer: adds what is new, replaces what
 * differs, and removes what is gone and was added by it.
 *
 * The function throws a `TypeError` when a key is taken by something else: at first nothing is added
 * then, later all the rest.
 *
 * @param differs Whether an entry has to take the place of the one that was offered before.
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
    // What is added is announced, and its capability offered from then on
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

/** Checks that all of an offer can be added. */
function requireFree(registries: Registries, offer: Offer): void {
  for (const kind of KINDS) {
    for (const key of offer[kind].keys()) registries[kind].requireFree(key)
  }
}

/** Keeps one registry in line; gives why it could not take what it did not take. */
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
