/**
 * Creates text content, and validates content.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result
 */
import type { ContentBlock, ResourceContents, TextContent } from './types.ts'
import { isObject } from './validate.ts'

/**
 * Creates a block of text.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result
 */
export function text(value: string): TextContent {
  return { type: 'text', text: value }
}

/** The string members that content blocks must have, by type. Embedded resources are checked separately. */
const REQUIRED_STRINGS: { readonly [type: string]: readonly string[] } = {
  text: ['text'],
  image: ['data', 'mimeType'],
  audio: ['data', 'mimeType'],
  resource_link: ['uri', 'name'],
}

/** Whether a value is a content block of a known type with all its required members. */
export function isContentBlock(value: unknown): value is ContentBlock {
  if (!isObject(value)) return false
  const { type } = value
  // Fast path: most blocks are text
  if (type === 'text') return typeof value.text === 'string'
  if (type === 'resource') return isResourceContents(value.resource)
  const names =
    typeof type === 'string' && Object.hasOwn(REQUIRED_STRINGS, type)
      ? REQUIRED_STRINGS[type]
      : undefined
  return names?.every((name) => typeof value[name] === 'string') ?? false
}

/** Whether a value is the contents of a resource. */
export function isResourceContents(value: unknown): value is ResourceContents {
  if (!isObject(value) || typeof value.uri !== 'string') return false
  return typeof value.text === 'string' || typeof value.blob === 'string'
}
