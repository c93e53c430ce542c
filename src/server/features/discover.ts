/**
 * What the server offers, said on request.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/discover
 */
import type { DiscoverResult, ServerCapabilities } from '../../protocol/types.ts'
import type { RevisionFacts } from '../../protocol/revisions.ts'
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
  /** What the author declares beyond. */
  readonly capabilities: ServerCapabilities
  readonly tools: List
  readonly resources: List
  readonly resourceTemplates: List
  readonly prompts: List
  readonly declare?: DeclareCapabilities
  readonly extensions?: Extensions
}

interface List {
  readonly used: boolean
  entries(): Iterable<[string, object]>
}

/**
 * Adds the capabilities of what only some presets have.
 *
 * @param reached Whether the client can be reached beside answers.
 */
export type DeclareCapabilities = (
  capabilities: ServerCapabilities,
  registered: Registered,
  reached: boolean,
) => void

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
  const { tools, resources, resourceTemplates, prompts } = registered
  const capabilities: ServerCapabilities = { ...registered.capabilities }
  if (tools.used) capabilities.tools = {}
  if (prompts.used) capabilities.prompts = {}
  if (resources.used || resourceTemplates.used) capabilities.resources = {}
  registered.declare?.(capabilities, registered, reached)
  // Tasks are an extension since 2026-07-28
  if (era === 'modern') delete capabilities.tasks
  return registered.extensions?.declare(capabilities, era) ?? capabilities
}
