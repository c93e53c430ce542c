/**
 * Adapts the client's messages to the server's revision, so that the server receives only what that
 * revision defines.
 *
 * @see https://modelcontextprotocol.io/docs/2026-07-28/learn/versioning
 */
import { without } from './copy.ts'
import { degradeImplementation, degradeMeta } from './degrade-meta.ts'
import {
  AUDIO,
  COMPLETION_CONTEXT,
  ELICITATION,
  ITEM_METADATA,
  SAMPLING_TOOLS,
  URL_ELICITATION,
  supports,
} from './revision-features.ts'
import type { RevisionFacts } from './revisions.ts'
import type {
  ClientCapabilities,
  CompleteParams,
  CreateMessageResult,
  Implementation,
  InitializeParams,
  ListRootsResult,
  Result,
  SamplingContent,
  JsonObject,
} from './types.ts'

/** Params that exist only in requests without a session. */
const STATELESS = ['inputResponses', 'requestState']

/** Adapts the params of a request or notification to the server; the same object if nothing changes. */
export function degradeClientParams(
  method: string,
  params: JsonObject | undefined,
  revision: RevisionFacts,
): JsonObject | undefined {
  if (!params) return params
  if (revision.era === 'modern') return without(params, ['task'])
  const degraded = degradeMeta(
    without(params, revision.tasks === 'core' ? STATELESS : [...STATELESS, 'task']),
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

/** Adapts the result of a server's request; the same object if nothing changes. */
export function degradeClientResult(
  method: string,
  result: Result,
  revision: RevisionFacts,
): Result {
  if (revision.era === 'modern') return result
  const degraded = degradeMeta(without(result, ['resultType']), revision)
  if (method === 'roots/list' && !supports(revision, ITEM_METADATA)) {
    const { roots } = degraded as ListRootsResult
    return { ...degraded, roots: roots.map((root) => without(root, ['_meta'])) }
  }
  if (method !== 'sampling/createMessage' || supports(revision, SAMPLING_TOOLS)) return degraded
  return { ...degraded, content: singleBlock((degraded as CreateMessageResult).content, revision) }
}

/**
 * Adapts the client's capabilities. In 2025-06-18, elicitation has forms only, so a client that
 * supports only URL mode declares no elicitation to a server of that revision. `tasks` is 2025-11-25
 * only.
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
    supports(revision, ELICITATION) && elicitation && !(elicitation.url && !elicitation.form)
  if (sampling) remaining.sampling = without(sampling, ['context', 'tools'])
  if (hasForms) remaining.elicitation = without(elicitation, ['form', 'url'])
  return remaining
}

/**
 * Reduces the result of sampling to one block, as before 2025-11-25: all text joined, or else the first
 * block. A block whose type the revision lacks becomes text with the name of the type.
 */
function singleBlock(
  content: SamplingContent | SamplingContent[],
  revision: RevisionFacts,
): SamplingContent {
  const blocks = Array.isArray(content) ? content : [content]
  const texts = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []))
  const [first] = blocks
  if (!first || (blocks.length > 1 && texts.length > 0)) {
    return { type: 'text', text: texts.join('\n\n') }
  }
  const isSupported = ['text', 'image', supports(revision, AUDIO) && 'audio'].includes(first.type)
  if (!isSupported) return { type: 'text', text: `[${first.type}]` }
  return supports(revision, ITEM_METADATA) ? first : without(first, ['_meta', 'annotations'])
}
