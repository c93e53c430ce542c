/**
 * Adapts the client's requests and notifications to the server's revision, so that the server receives
 * only what that revision defines.
 *
 * @see https://modelcontextprotocol.io/docs/2026-07-28/learn/versioning
 */
import { without } from './copy.ts'
import { degradeImplementation, degradeMeta } from './degrade-meta.ts'
import {
  COMPLETION_CONTEXT,
  ELICITATION,
  SAMPLING_TOOLS,
  URL_ELICITATION,
  supports,
} from './revision-features.ts'
import type { RevisionFacts } from './revisions.ts'
import type {
  ClientCapabilities,
  CompleteParams,
  Implementation,
  InitializeParams,
  JsonObject,
} from './types.ts'

/** Params that exist only in requests without a session. */
const STATELESS_PARAMS = ['inputResponses', 'requestState']

/** Adapts the params of a request or notification to the server; the same object if nothing changes. */
export function degradeClientParams(
  method: string,
  params: JsonObject | undefined,
  revision: RevisionFacts,
): JsonObject | undefined {
  if (!params) return params
  if (revision.era === 'modern') return without(params, ['task'])
  const degraded = degradeMeta(
    without(params, revision.tasks === 'core' ? STATELESS_PARAMS : [...STATELESS_PARAMS, 'task']),
    revision,
  )
  if (method === 'initialize') {
    const { clientInfo = {}, capabilities = {} } = degraded as Partial<InitializeParams>
    return {
      ...degraded,
      clientInfo: degradeImplementation(clientInfo as Implementation, revision),
      capabilities: degradeClientCapabilities(capabilities, revision),
    }
  }
  if (method !== 'completion/complete' || supports(revision, COMPLETION_CONTEXT)) return degraded
  const { ref } = degraded as Partial<CompleteParams>
  return { ...without(degraded, ['context']), ref: ref && without(ref, ['title']) }
}

/**
 * Adapts the client's capabilities. In 2025-06-18, elicitation has forms only, so a client that
 * supports only URL mode declares no elicitation to a server of that revision. `tasks` exists only in
 * 2025-11-25.
 */
export function degradeClientCapabilities(
  capabilities: ClientCapabilities,
  revision: RevisionFacts,
): ClientCapabilities {
  if (revision.tasks === 'core') return capabilities
  const degraded = without(capabilities, ['tasks'])
  if (supports(revision, URL_ELICITATION) && supports(revision, SAMPLING_TOOLS)) return degraded
  const { elicitation, sampling, ...remaining } = degraded
  const hasForms =
    supports(revision, ELICITATION) && elicitation && (elicitation.form || !elicitation.url)
  if (sampling) remaining.sampling = without(sampling, ['context', 'tools'])
  if (hasForms) remaining.elicitation = without(elicitation, ['form', 'url'])
  return remaining
}
