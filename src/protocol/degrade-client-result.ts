/**
 * Adapts the client's answers to the server's revision, so that the server receives only what that
 * revision defines.
 *
 * @see https://modelcontextprotocol.io/docs/2026-07-28/learn/versioning
 */
import { without } from './copy.ts'
import { degradeMeta } from './degrade-meta.ts'
import { AUDIO, ITEM_METADATA, SAMPLING_TOOLS, supports } from './revision-features.ts'
import type { RevisionFacts } from './revisions.ts'
import type { CreateMessageResult, ListRootsResult, Result, SamplingContent } from './types.ts'

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
 * Reduces the result of sampling to one block, as before 2025-11-25. All texts are joined. If there is no text,
 * the first block is used. A block whose type the revision lacks becomes text with the name of the type.
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
