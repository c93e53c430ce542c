/**
 * Extensions that depend on other extensions: as long as a required extension is missing, no part
 * of the dependent extension runs.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extension-negotiation
 */
import { targetOf } from '../../patterns/guard-observer.ts'
import type { JsonObject } from '../../protocol/types.ts'
import type { AppliedMiddleware, ServerDefinition } from '../definition.ts'
import type { ResourceTemplateEntry } from '../features/resources.ts'
import type { ExtensionFilter, ExtensionMethod } from './server-extension.ts'

/** Throws unless the server has all extensions that an extension depends on. */
export type CheckRequirements = () => void

/** The ids of the extensions of a server. */
export function idsOf({ extensions }: ServerDefinition): string[] {
  const declaredInEras = (['legacy', 'modern'] as const).map((era) => {
    return extensions?.declare({}, era).extensions
  })
  return [...new Set(declaredInEras.flatMap((declared) => Object.keys(declared ?? {})))]
}

/**
 * Checks that a server has the extensions that an extension depends on.
 *
 * @throws {TypeError} If one is missing. The message names both extensions, and what the missing
 *   one is needed for.
 */
export function requireExtensions(
  definition: ServerDefinition,
  id: string,
  requires: Readonly<Record<string, string>>,
): void {
  const ids = idsOf(definition)
  const [missing] = Object.entries(requires).filter(([required]) => !ids.includes(required))
  if (missing) throw new TypeError(`"${id}" requires the extension "${missing[0]}": ${missing[1]}`)
}

/** Returns a function that runs a check on each call until the check succeeds, and not again after that. */
export function checkUntilMet(
  requires: Readonly<Record<string, string>>,
  checkRequirements: CheckRequirements,
): CheckRequirements {
  let isMet = Object.keys(requires).length === 0
  return () => {
    if (!isMet) checkRequirements()
    isMet = true
  }
}

/** Returns a method that fails as long as a required extension is missing. */
export function guardMethod(
  method: ExtensionMethod,
  checkRequirements: CheckRequirements,
): ExtensionMethod {
  const { handle, legacy } = method
  return {
    ...method,
    ...(handle && {
      handle(params, ctx, revision) {
        checkRequirements()
        return handle(params, ctx, revision)
      },
    }),
    ...(legacy && {
      legacy(params, ctx) {
        checkRequirements()
        return legacy(params, ctx)
      },
    }),
  }
}

/** Returns a filter that fails as long as a required extension is missing. */
export function guardFilter(
  filter: ExtensionFilter,
  checkRequirements: CheckRequirements,
): ExtensionFilter {
  return {
    accept(requested, ctx) {
      checkRequirements()
      return filter.accept(requested, ctx)
    },
    subscribe: (accepted, notify, ctx) => filter.subscribe(accepted, notify, ctx),
  }
}

/**
 * Calls `attach`, which adds the middleware, tools, resources and prompts of an extension. As long as a required
 * extension is missing, all of these fail.
 */
export function attachGuarded(
  definition: ServerDefinition,
  attach: () => void,
  checkRequirements: CheckRequirements,
): void {
  const { middleware, tools, prompts, resources, resourceTemplates } = definition
  const keys = (): string[] =>
    Object.entries({ tools, prompts, resources, resourceTemplates }).flatMap(([kind, registry]) =>
      [...registry.entries().keys()].map((key) => `${kind} ${key}`),
    )
  const firstAddedIndex = middleware.length
  const existing = new Set(keys())
  attach()
  const added = new Set(keys().filter((key) => !existing.has(key)))
  const guarded = middleware
    .slice(firstAddedIndex)
    .map((layer) => guardMiddleware(layer, checkRequirements))
  const isAdded = (method: string, params: JsonObject): boolean => {
    const { name, uri } = targetOf(params)
    if (method === 'tools/call') return added.has(`tools ${name}`)
    if (method === 'prompts/get') return added.has(`prompts ${name}`)
    if (method !== 'resources/read' || uri === undefined) return false
    const isAddedTemplate = ([key, { template }]: [string, ResourceTemplateEntry]): boolean =>
      added.has(`resourceTemplates ${key}`) && template.match(uri) !== undefined
    return added.has(`resources ${uri}`) || [...resourceTemplates.entries()].some(isAddedTemplate)
  }
  const entryGuard: AppliedMiddleware = {
    method: undefined,
    async run({ method, params }, _ctx, next) {
      if (isAdded(method, params)) checkRequirements()
      return next()
    },
  }
  middleware.splice(firstAddedIndex, Infinity, ...guarded, ...(added.size > 0 ? [entryGuard] : []))
}

/** Returns middleware that fails as long as a required extension is missing. */
function guardMiddleware(
  { method, run, wrap }: AppliedMiddleware,
  checkRequirements: CheckRequirements,
): AppliedMiddleware {
  return {
    method,
    async run(request, ctx, next) {
      checkRequirements()
      return run(request, ctx, next)
    },
    ...(wrap && {
      wrap(message, ctx, next) {
        checkRequirements()
        return wrap(message, ctx, next)
      },
    }),
  }
}
