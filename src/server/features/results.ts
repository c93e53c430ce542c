/**
 * Short ways to write content.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result
 */
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

/**
 * A block with an image.
 *
 * @param data The bytes, or their Base64.
 * @param mimeType Such as `image/png`.
 * @throws {TypeError} when the data is no Base64, or the type none.
 */
export function image(data: Uint8Array | string, mimeType: string): ImageContent {
  return { type: 'image', data: requireBase64(data), mimeType: requireMimeType(mimeType) }
}

/**
 * A block with sound.
 *
 * @param data The bytes, or their Base64.
 * @param mimeType Such as `audio/wav`.
 * @throws {TypeError} when the data is no Base64, or the type none.
 */
export function audio(data: Uint8Array | string, mimeType: string): AudioContent {
  return { type: 'audio', data: requireBase64(data), mimeType: requireMimeType(mimeType) }
}

/**
 * A block that points to a resource.
 *
 * @throws {TypeError} when the annotations are wrong.
 */
export function resourceLink(resource: Resource): ResourceLink {
  requireAnnotations(resource.annotations)
  return { type: 'resource_link', ...resource }
}

/**
 * A block that holds a resource's contents. Without a type they are plain text or bytes.
 *
 * @throws {TypeError} when the URI or the type is none, or the bytes are no Base64.
 */
export function embedded(resource: ResourceContents): EmbeddedResource {
  const { uri, mimeType = 'text' in resource ? 'text/plain' : 'application/octet-stream' } =
    resource
  if (!URL.canParse(uri)) throw new TypeError(`"${uri}" is no URI`)
  if ('blob' in resource) requireBase64(resource.blob)
  return { type: 'resource', resource: { ...resource, mimeType: requireMimeType(mimeType) } }
}

const BASE64 = /^[a-z\d+/]*={0,2}$/i
const MIME_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:\s*;.*)?$/

function requireBase64(data: Uint8Array | string): string {
  const isText = typeof data === 'string'
  if (isText && (data.length % 4 !== 0 || !BASE64.test(data))) {
    throw new TypeError('The data is no Base64')
  }
  return base64(data)
}

function requireMimeType(mimeType: string): string {
  if (MIME_TYPE.test(mimeType)) return mimeType
  throw new TypeError(`"${mimeType}" is no MIME type`)
}

/** A result with structured content, which is also given as text for clients that do not read it. */
export function json(value: unknown): CallToolResult {
  return { content: [text(wellFormedJson(value))], structuredContent: value }
}

/** The result of a tool that failed. */
export interface ToolFailure extends CallToolResult {
  isError: true
  structuredContent?: never
}

/** A failed result, whose text the model reads. A tool with an `output` may return it as well. */
export function toolError(message: string): ToolFailure {
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
  return typeof content === 'string' ? [text(content)] : [content].flat()
}

/**
 * Checks annotations.
 *
 * @throws {TypeError} when the audience is none, the priority not from 0 to 1, or the date no date.
 */
export function requireAnnotations(annotations: Annotations = {}): void {
  const { audience = [], priority = 0, lastModified = '1970-01-01' } = annotations
  const known = audience.every((role) => role === 'user' || role === 'assistant')
  const isDate = /^\d{4}-/.test(lastModified) && !Number.isNaN(Date.parse(lastModified))
  if (known && priority >= 0 && priority <= 1 && isDate) return
  throw new TypeError(`No annotations: ${JSON.stringify(annotations)}`)
}

/**
 * The blocks of any form of content.
 *
 * @param maker What gave them, for the error.
 * @throws {TypeError} when one is no block.
 */
export function requireBlocks(content: Content, maker: string): ContentBlock[] {
  const blocks = toBlocks(content)
  if (blocks.every(isContentBlock)) return blocks
  throw new TypeError(`${maker} returned content that is none`)
}
