/**
 * What the server offers: its versions, capabilities and instructions.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/discover
 */
import type { DiscoverResult, ServerCapabilities } from '../../protocol/types.ts'
import type { RevisionFacts } from '../../protocol/revisions.ts'
import type { Extensions } from './extensions.ts'
import type { Handlers } from './logging.ts'

/** Answers `server/discover` with the server's versions, capabilities and instructions. */
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

/** The registrations from which capabilities are inferred. */
export interface RegisteredFeatures extends Handlers {
  /** Additional capabilities that the application declares. */
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
 * Adds the capabilities of features that only some presets include.
 *
 * @param canPush Whether the server can send messages outside of responses.
 */
export type DeclareCapabilities = (
  capabilities: ServerCapabilities,
  registered: RegisteredFeatures,
  canPush: boolean,
) => void

/**
 * Infers the capabilities from the registrations.
 *
 * @param canPush Whether the server can send messages outside of responses.
 */
export function inferCapabilities(
  registered: RegisteredFeatures,
  canPush: boolean,
  era: RevisionFacts['era'],
): ServerCapabilities {
  const capabilities: ServerCapabilities = { ...registered.capabilities }
  if (registered.tools.used) capabilities.tools = {}
  registered.declare?.(capabilities, registered, canPush)
  // Tasks are an extension since 2026-07-28
  if (era === 'modern') delete capabilities.tasks
  return registered.extensions?.declare(capabilities, era) ?? capabilities
}
