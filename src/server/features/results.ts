/**
 * Shorthands for content blocks and results.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result
 */
import { encodeBase64 } from '../../protocol/base64url.ts'
import { wellFormedJson } from '../../protocol/well-formed-json.ts'
import type {
  Annotations,
  AudioContent,
  CallToolResult,
  ContentBlock,
  EmbeddedResource,
  ImageContent,
  Resource,
  ResourceContents,
  ResourceLink,
} from '../../protocol/types.ts'
import { isContentBlock, text } from '../../protocol/content.ts'
import { parseUrl } from '../../patterns/url.ts'

/**
 * Creates a content block with an image.
 *
 * @param data The bytes, or their Base64 encoding.
 * @param mimeType Such as `image/png`.
 * @throws {TypeError} If the data is not valid Base64, or the MIME type is invalid.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result
 */
export function image(data: Uint8Array | string, mimeType: string): ImageContent {
  return { type: 'image', data: requireBase64(data), mimeType: requireMimeType(mimeType) }
}

/**
 * Creates a content block with audio.
 *
 * @param data The bytes, or their Base64 encoding.
 * @param mimeType Such as `audio/wav`.
 * @throws {TypeError} If the data is not valid Base64, or the MIME type is invalid.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result
 */
export function audio(data: Uint8Array | string, mimeType: string): AudioContent {
  return { type: 'audio', data: requireBase64(data), mimeType: requireMimeType(mimeType) }
}

/**
 * Creates a block that links to a resource.
 *
 * @throws {TypeError} If the annotations are invalid.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result
 */
export function resourceLink(resource: Resource): ResourceLink {
  requireAnnotations(resource.annotations)
  return { type: 'resource_link', ...resource }
}

/**
 * Creates a block that embeds a resource's contents. Without a MIME type, the contents are sent as plain text
 * or as bytes.
 *
 * @throws {TypeError} If the URI or the MIME type is invalid, or the bytes are not valid Base64.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result
 */
export function embedded(resource: ResourceContents): EmbeddedResource {
  const { uri, mimeType = 'text' in resource ? 'text/plain' : 'application/octet-stream' } =
    resource
  if (!parseUrl(uri)) throw new TypeError(`"${uri}" is not a URI`)
  if ('blob' in resource) requireBase64(resource.blob)
  return { type: 'resource', resource: { ...resource, mimeType: requireMimeType(mimeType) } }
}

const BASE64 = /^[a-z\d+/]*={0,2}$/i
const MIME_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:\s*;.*)?$/

function requireBase64(data: Uint8Array | string): string {
  const isText = typeof data === 'string'
  if (isText && (data.length % 4 !== 0 || !BASE64.test(data))) {
    throw new TypeError('The data is not Base64')
  }
  return base64(data)
}

function requireMimeType(mimeType: string): string {
  if (MIME_TYPE.test(mimeType)) return mimeType
  throw new TypeError(`"${mimeType}" is not a MIME type`)
}

/**
 * Creates a result with structured content, repeated as text for clients that do not read it.
 *
 * @throws {TypeError} If JSON cannot represent the value, for example because of a bigint or a
 *   cycle.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#output-schema
 */
export function json(value: unknown): CallToolResult {
  return { content: [text(wellFormedJson(value))], structuredContent: value }
}

/** The result of a failed tool call. */
export interface ToolFailure extends CallToolResult {
  isError: true
  structuredContent?: never
}

/**
 * Creates a failed result whose text the model reads. Tools with an `output` may return such a result too.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#error-handling
 */
export function toolError(message: string): ToolFailure {
  return { content: [text(message)], isError: true }
}

/** Encodes bytes as Base64; a string is assumed to be Base64 already. */
export function base64(data: Uint8Array | string): string {
  return typeof data === 'string' ? data : encodeBase64(data)
}

/** The content that a handler may return: one block, several, or text. */
export type Content = string | ContentBlock | readonly ContentBlock[]

/** Converts any form of content to blocks. */
export function toBlocks(content: Content): ContentBlock[] {
  if (typeof content === 'string') return [text(content)]
  return Array.isArray(content) ? [...content] : [content as ContentBlock]
}

/**
 * Validates annotations.
 *
 * @throws {TypeError} If the audience is invalid, the priority is not between 0 and 1, or the
 * date is invalid.
 */
export function requireAnnotations(annotations: Annotations = {}): void {
  const { audience = [], priority = 0, lastModified = '1970-01-01' } = annotations
  const hasKnownRoles = audience.every((role) => role === 'user' || role === 'assistant')
  const isDate = /^\d{4}-/.test(lastModified) && !Number.isNaN(Date.parse(lastModified))
  if (hasKnownRoles && priority >= 0 && priority <= 1 && isDate) return
  throw new TypeError(`Invalid annotations: ${JSON.stringify(annotations)}`)
}

/**
 * Converts any form of content to blocks, and validates them.
 *
 * @param label The source of the content, for the error message.
 * @throws {TypeError} If a block is invalid.
 */
export function requireBlocks(content: Content, label: string): ContentBlock[] {
  const blocks = toBlocks(content)
  if (blocks.every(isContentBlock)) return blocks
  throw new TypeError(`${label} returned invalid content`)
}
