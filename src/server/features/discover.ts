/**
 * What the server offers, said on request.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/discover
 */
import type { DiscoverResult, ServerCapabilities } from '../../protocol/types.ts'
import type { RevisionFacts } from '../../protocol/revisions.ts'
import type { Completers } from './completion.ts'
import type { Extensions } from './extensions.ts'
import type { Handlers } from './logging.ts'

/** Answers `server/discover`: the versions, capabilities and instructions of the server. */
export function discover(server: {
  readonly revisions: readonly RevisionFacts[]
  readonly offered: ServerCapabilities
  readonly instructions: string | undefined
}): DiscoverResult {
  const result: DiscoverResult = {
    supportedVersions: server.revisions.map(({ version }) => version),
    capabilities: server.offered,
  }
  if (server.instructions !== undefined) result.instructions = server.instructions
  return result
}

/** What capabilities follow from. */
export interface Registered extends Handlers {
  readonly methods: { has(method: string): boolean }
  /** Whether anything of the server may log; absent where no logs are sent. */
  readonly canLog?: (handlers: Handlers) => boolean
  /** What the author declares beyond. */
  readonly capabilities: ServerCapabilities
  readonly tools: List
  readonly resources: List
  readonly resourceTemplates: List<Completable>
  readonly prompts: List<Completable>
  readonly extensions?: Extensions
  /** Announces changes, if anything does. */
  readonly notify?: object
}

interface List<Item extends object = object> {
  readonly used: boolean
  entries(): Iterable<[string, Item]>
}

interface Completable {
  readonly complete: Completers | undefined
}

/**
 * The capabilities that follow from what is registered.
 *
 * @param reached Whether the client can be reached beside answers.
 */
export function inferCapabilities(
  registered: Registered,
  reached: boolean,
  era: RevisionFacts['era'],
): ServerCapabilities {
  const { methods, tools, resources, resourceTemplates, prompts } = registered
  const capabilities: ServerCapabilities = { ...registered.capabilities }
  const pushes = reached && registered.notify !== undefined
  const changes = pushes ? { listChanged: true } : {}
  if (tools.used) capabilities.tools = changes
  if (prompts.used) capabilities.prompts = changes
  if (resources.used || resourceTemplates.used) {
    const { subscribe = true } = registered.capabilities.resources ?? {}
    capabilities.resources = pushes ? { subscribe, listChanged: true } : {}
  }
  const completes = [...prompts.entries(), ...resourceTemplates.entries()].some(
    ([, { complete }]) => complete && methods.has('completion/complete'),
  )
  if (completes) capabilities.completions = {}
  // Where no level can be kept, no log is sent either.
  if (pushes && registered.canLog?.(registered)) capabilities.logging = {}
  // Tasks are an extension since 2026-07-28
  if (era === 'modern') delete capabilities.tasks
  return registered.extensions?.declare(capabilities, era) ?? capabilities
}
