/**
 * Adapts forms to clients of 2025-06-18. The forms of that revision have no titled options and no multiple
 * choice, and only booleans have defaults.
 *
 * @see https://modelcontextprotocol.io/specification/2025-06-18/client/elicitation
 */
import { without } from './copy.ts'
import type { ObjectSchema, JsonObject } from './types.ts'
import { isObject } from './validate.ts'

/** The members of a field with options that 2025-06-18 does not have. */
const NEWER_OPTION_MEMBERS = ['default', 'oneOf', 'anyOf', 'items', 'minItems', 'maxItems']

/** Converts titled options to `enum` and `enumNames`, and multiple choice to a single choice. */
export function degradeForm(form: ObjectSchema): ObjectSchema {
  const fields = Object.entries(form.properties ?? {})
  return {
    ...without(form, ['$schema']),
    type: 'object',
    properties: Object.fromEntries(fields.map(([name, field]) => [name, degradeField(field)])),
  }
}

/**
 * Converts the content of an adapted form to what the form's author expects: a single choice becomes a
 * list if the form allows several. Everything else stays unchanged.
 */
export function restoreContent(form: ObjectSchema, content: unknown): unknown {
  if (!isObject(content)) return content
  const entries = Object.entries(content).map(([name, value]) => {
    const { properties = {} } = form
    const field = Object.hasOwn(properties, name) ? properties[name] : undefined
    return [name, field?.type === 'array' && typeof value === 'string' ? [value] : value] as const
  })
  return Object.fromEntries(entries)
}

function degradeField(field: JsonObject): JsonObject {
  // The options of a multiple choice are in `items`
  const items = isObject(field.items) ? field.items : field
  const options = items.oneOf ?? items.anyOf ?? items.enum
  if (!Array.isArray(options)) return field.type === 'boolean' ? field : without(field, ['default'])
  const rest = without(field, NEWER_OPTION_MEMBERS)
  if (!options.every(isObject)) return { ...rest, type: 'string', enum: options }
  return {
    ...rest,
    type: 'string',
    enum: options.map((option) => option.const),
    enumNames: options.map((option) => option.title ?? option.const),
  }
}
