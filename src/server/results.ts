/**
 * Short ways to write content.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result
 */
import type {
  AudioContent,
  CallToolResult,
  ContentBlock,
  EmbeddedResource,
  ImageContent,
  Resource,
  ResourceContents,
  ResourceLink,
  TextContent,
} from '../protocol/types.ts'

/** A block of text. */
export function text(value: string): TextContent {
  return { type: 'text', text: value }
}

/**
 * A block with an image.
 *
 * @param data The bytes, or their Base64.
 * @param mimeType Such as `image/png`.
 */
export function image(data: Uint8Array | string, mimeType: string): ImageContent {
  return { type: 'image', data: base64(data), mimeType }
}

/**
 * A block with sound.
 *
 * @param data The bytes, or their Base64.
 * @param mimeType Such as `audio/wav`.
 */
export function audio(data: Uint8Array | string, mimeType: string): AudioContent {
  return { type: 'audio', data: base64(data), mimeType }
}

/** A block that points to a resource. */
export function resourceLink(resource: Resource): ResourceLink {
  return { type: 'resource_link', ...resource }
}

/** A block that holds a resource's contents. */
export function embedded(resource: ResourceContents): EmbeddedResource {
  return { type: 'resource', resource }
}

/** A result with structured content, which is also given as text for clients that do not read it. */
export function json(value: unknown): CallToolResult {
  return { content: [text(JSON.stringify(value))], structuredContent: value }
}

/** A failed result, whose text the model reads. */
export function toolError(message: string): CallToolResult {
  return { content: [text(message)], isError: true }
}

/** Bytes in Base64; text is taken to be Base64 already. */
export function base64(data: Uint8Array | string): string {
  if (typeof data === 'string') return data
  let binary = ''
  for (let at = 0; at < data.length; at += 0x8000) {
    binary += String.fromCharCode(...data.subarray(at, at + 0x8000))
  }
  return btoa(binary)
}

/** What a handler may return for content: one block, several, or text. */
export type Content = string | ContentBlock | readonly ContentBlock[]

/** The blocks of any form of content. */
export function toBlocks(content: Content): ContentBlock[] {
  if (typeof content === 'string') return [text(content)]
  return isList(content) ? [...content] : [content]
}

function isList(
  content: ContentBlock | readonly ContentBlock[],
): content is readonly ContentBlock[] {
  return Array.isArray(content)
}
