/**
 * Adapts content to peers of older revisions: types that a revision lacks are expressed with types
 * that it has.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/changelog
 */
import { wellFormedJson } from './well-formed-json.ts'
import { text } from './content.ts'
import { without } from './copy.ts'
import { AUDIO, ICONS, ITEM_METADATA, RESOURCE_LINKS, supports } from './revision-features.ts'
import type { RevisionFacts } from './revisions.ts'
import type {
  AudioContent,
  ContentBlock,
  ImageContent,
  Meta,
  ResourceLink,
  SamplingContent,
  SamplingMessage,
  TextContent,
} from './types.ts'

/** The content types that sampling has had from the start, and audio. */
type PlainContent = TextContent | ImageContent | AudioContent

/**
 * Adapts a content block of a tool or a prompt. Before 2025-06-18 a `resource_link` becomes text that
 * names the resource; before 2025-03-26 `audio` becomes an embedded resource.
 */
export function degradeContent(block: ContentBlock, revision: RevisionFacts): ContentBlock {
  // Icons are the newest feature of content, so a revision with icons has all others too
  if (supports(revision, ICONS)) return block
  if (block.type === 'resource_link' && !supports(revision, RESOURCE_LINKS))
    return linkAsText(block, revision)
  const degraded = degradeItem(block, revision)
  if (degraded.type === 'resource') {
    const resource = degradeItem(degraded.resource, revision)
    return resource === degraded.resource ? degraded : { ...degraded, resource }
  }
  if (degraded.type !== 'audio' || supports(revision, AUDIO)) return degraded
  const { data, mimeType, annotations } = degraded
  const resource = { uri: 'about:audio', mimeType, blob: data }
  return annotations ? { type: 'resource', resource, annotations } : { type: 'resource', resource }
}

/** A listed or read item with the members that later revisions added to many types. */
export interface Item {
  _meta?: Meta
  annotations?: object
}

/**
 * Removes `icons`, which 2025-11-25 introduced, and `title`, `_meta` and `annotations.lastModified`,
 * which 2025-06-18 introduced.
 */
export function degradeItem<T extends Item>(item: T, revision: RevisionFacts): T {
  if (supports(revision, ICONS)) return item
  if (supports(revision, ITEM_METADATA)) return without(item, ['icons'])
  const degraded = without(item, ['icons', 'title', '_meta'])
  const annotations = degraded.annotations && without(degraded.annotations, ['lastModified'])
  return annotations === degraded.annotations ? degraded : { ...degraded, annotations }
}

/**
 * Adapts the messages of a sampling conversation. Before 2025-11-25 a message has one block, so a
 * message with several blocks becomes several messages, and tool use becomes text.
 */
export function degradeMessages(
  messages: SamplingMessage[],
  revision: RevisionFacts,
): SamplingMessage[] {
  return messages.flatMap(({ role, content }) =>
    plainContents(content, revision).map((block) => ({ role, content: block })),
  )
}

/** Converts the blocks of a sampling message to types that existed before 2025-11-25. */
function plainContents(
  content: SamplingContent | SamplingContent[],
  revision: RevisionFacts,
): PlainContent[] {
  return (Array.isArray(content) ? content : [content]).flatMap((block) => {
    if (block.type === 'tool_use') {
      return text(`[Tool call ${block.id}: ${block.name} ${wellFormedJson(block.input)}]`)
    }
    if (block.type !== 'tool_result') return plainContent(block, revision)
    return [
      text(`[Tool result of ${block.toolUseId}]`),
      ...block.content.map((item) => plainContent(item, revision)),
    ]
  })
}

function plainContent(block: ContentBlock, revision: RevisionFacts): PlainContent {
  if (block.type === 'resource_link') return linkAsText(block, revision)
  if (block.type === 'resource') return text(wellFormedJson(block.resource))
  if (block.type === 'audio' && !supports(revision, AUDIO))
    return text(`[Audio, ${block.mimeType}]`)
  return degradeItem(block, revision)
}

function linkAsText(link: ResourceLink, revision: RevisionFacts): TextContent {
  const { name, title = name, uri, description, annotations } = link
  const line = `[Resource ${title}: ${uri}]`
  const content = text(description === undefined ? line : `${line} ${description}`)
  return annotations ? degradeItem({ ...content, annotations }, revision) : content
}
