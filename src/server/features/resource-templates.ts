/**
 * Families of resources, each by a URI template.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/resources#resource-templates
 */
import { requireKnown, type OptionNames } from '../../patterns/known-options.ts'
import {
  entryOf,
  FAMILY_OPTIONS,
  type ReadHandler,
  type ResourceTemplateEntry,
  type ResourceTemplateOptions,
} from './resources.ts'
import { compileUriTemplate } from './uri-template.ts'

const OPTIONS = { ...FAMILY_OPTIONS, complete: 1 } satisfies OptionNames<ResourceTemplateOptions>

/**
 * Makes an entry of a family of resources.
 *
 * @throws {McpError} `INVALID_USE` when the template is malformed.
 */
export function resourceTemplateEntry(
  uriTemplate: string,
  options: ResourceTemplateOptions,
  read: ReadHandler,
): ResourceTemplateEntry {
  const { complete, ...described } = options
  requireKnown(`The template "${uriTemplate}"`, options, OPTIONS)
  const template = compileUriTemplate(uriTemplate)
  return { ...entryOf({ uriTemplate }, described, read), template, complete }
}
