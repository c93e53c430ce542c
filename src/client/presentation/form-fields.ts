/**
 * The fields of an elicitation form. Its schema may be written in several ways, but the fields always have
 * the same shape.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema
 */
import type { ElicitResult, ObjectSchema, JsonObject } from '../../protocol/types.ts'
import { isObject } from '../../protocol/validate.ts'

/**
 * A field of a form. All of its texts come from the server.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema
 */
export interface FormField {
  /** The field's name in the content of the answer. */
  readonly name: string
  /** The label to show: the field's title, or else its name. */
  readonly label: string
  /** The explanation of the field, if the server gives one. */
  readonly description: string | undefined
  /** With `choice`, the user selects one option. With `choices`, the user selects any number of options. */
  readonly kind: 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'choices'
  /** The options to select from; empty unless `kind` is `choice` or `choices`. */
  readonly options: readonly FormOption[]
  /** Whether the user has to fill in the field. */
  readonly required: boolean
  /** The initial value. It is also sent if the user accepts the form without a value for the field. */
  readonly default: FormValue | undefined
  /** The field's schema with its limits: `format`, `minLength`, `maximum`, `minItems` and others. */
  readonly schema: JsonObject
}

/** An option that the user can select. */
export interface FormOption {
  readonly value: string
  /** The label to show: the option's title, or else its value. */
  readonly label: string
}

/** The value of a field of an accepted form. */
export type FormValue = NonNullable<ElicitResult['content']>[string]

/**
 * Returns the fields of `params.requestedSchema` for the user to fill in, in the server's order.
 *
 * @example
 * ```ts
 * import { connect, formFields } from 'edgewise/client'
 *
 * const client = await connect('https://example.com/mcp', {
 *   onElicit(params) {
 *     if (params.mode === 'url') return { action: 'decline' }
 *     for (const { label, kind } of formFields(params.requestedSchema)) console.log(label, kind)
 *     return { action: 'cancel' }
 *   },
 * })
 * ```
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema
 */
export function formFields({ properties, required }: ObjectSchema): FormField[] {
  // The server's schema has not been validated
  const requiredNames: unknown[] = Array.isArray(required) ? required : []
  return Object.entries(isObject(properties) ? properties : {}).map(([name, property]) => {
    const schema = isObject(property) ? property : {}
    const isList = schema.type === 'array'
    const options = optionsOf(isList && isObject(schema.items) ? schema.items : schema)
    const singleKind = options.length > 0 ? 'choice' : kindOf(schema)
    return {
      name,
      label: textOf(schema.title) ?? name,
      description: textOf(schema.description),
      kind: isList ? 'choices' : singleKind,
      options,
      required: requiredNames.includes(name),
      default: isFormValue(schema.default) ? schema.default : undefined,
      schema,
    }
  })
}

function kindOf({ type }: JsonObject): 'text' | 'number' | 'integer' | 'boolean' {
  return type === 'number' || type === 'integer' || type === 'boolean' ? type : 'text'
}

/**
 * Reads the options of a field. Options without titles are an `enum`. Options with titles are schemas in
 * `oneOf` or `anyOf`, or, before 2025-11-25, an `enum` and a parallel list of titles.
 */
function optionsOf({ enum: values, enumNames: titles, oneOf, anyOf }: JsonObject): FormOption[] {
  if (Array.isArray(values)) {
    const labels: unknown[] = Array.isArray(titles) ? titles : []
    return values.map((value, index) => optionOf(value, labels[index]))
  }
  const schemas: unknown[] = [oneOf ?? anyOf ?? []].flat()
  return schemas.filter(isObject).map((schema) => optionOf(schema.const, schema.title))
}

function optionOf(value: unknown, title: unknown): FormOption {
  return { value: String(value), label: textOf(title) ?? String(value) }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function isFormValue(value: unknown): value is FormValue {
  return Array.isArray(value)
    ? value.every((item) => typeof item === 'string')
    : typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}
