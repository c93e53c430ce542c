/**
 * Resource templates.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/resources#resource-templates
 */
import { requireKnown, type OptionNames } from '../../patterns/known-options.ts'
import { COMMON_OPTIONS } from '../registry.ts'
import {
  entryOf,
  RESOURCE_OPTIONS,
  type ReadHandler,
  type ResourceTemplateEntry,
  type ResourceTemplateOptions,
} from './resources.ts'
import type { UriTemplate } from './uri-template.ts'

/**
 * Creates the entry of a resource template.
 *
 * @throws {TypeError} If an option is unknown, or the template was not made by `uriTemplate`.
 */
export function resourceTemplateEntry(
  template: UriTemplate,
  options: ResourceTemplateOptions,
  read: ReadHandler,
): ResourceTemplateEntry {
  const { source } = template
  if (!source) throw new TypeError('A resource template must be made by uriTemplate(…)')
  const { complete, ...metadata } = options
  const optionNames: OptionNames<ResourceTemplateOptions> = {
    ...COMMON_OPTIONS,
    ...RESOURCE_OPTIONS,
    complete: 1,
  }
  requireKnown(`The template "${source}"`, options, optionNames)
  return { ...entryOf({ uriTemplate: source }, metadata, read), template, complete }
}
