/**
 * Families of resources, each by a URI template.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/resources#resource-templates
 */
import {
  entryOf,
  type ReadHandler,
  type ResourceTemplateEntry,
  type ResourceTemplateOptions,
} from './resources.ts'
import { compileUriTemplate } from './uri-template.ts'

/**
 * Makes an entry of a family of resources.
 *
 * @throws {McpError} `INVALID_USE` when the template is malformed.
 */
export function resourceTemplateEntry(
  uriTemplate: string,
  { complete, ...options }: ResourceTemplateOptions,
  read: ReadHandler,
): ResourceTemplateEntry {
  const template = compileUriTemplate(uriTemplate)
  return { ...entryOf({ uriTemplate }, options, read), template, complete }
}
