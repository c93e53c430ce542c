/**
 * The form that a question of the server wants shown, one way for all that its schema may be
 * written.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema
 */
import type { JsonObject } from '../../protocol/jsonrpc.ts'
import type { ElicitResult, ObjectSchema } from '../../protocol/types.ts'
import { isObject } from '../../protocol/validate.ts'

/** A field of a form. All of its texts are the server's. */
export interface FormField {
  /** Its name in the content of the answer. */
  readonly name: string
  /** What to call it: its title, or where it has none its name. */
  readonly label: string
  readonly description: string | undefined
  /** `choice` is one of the options, whose value is text; `choices` are any number of them. */
  readonly kind: 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'choices'
  readonly options: readonly FormOption[]
  readonly required: boolean
  /** What to fill in at first, and what is sent where an accepted form leaves the field out. */
  readonly default: FormValue | undefined
  /** Where its limits are: `format`, `minLength`, `maximum`, `minItems` and others. */
  readonly schema: JsonObject
}

/** Something that can be chosen. */
export interface FormOption {
  readonly value: string
  /** What to call it: its title, or where it has none its value. */
  readonly label: string
}

/** What a field of an accepted form can hold. */
export type FormValue = NonNullable<ElicitResult['content']>[string]

/** The fields that a user is to fill in, in the server's order: of `params.requestedSchema`. */
export function formFields({ properties, required }: ObjectSchema): FormField[] {
  // The schema is as the server sent it
  const wanted: unknown[] = Array.isArray(required) ? required : []
  return Object.entries(isObject(properties) ? properties : {}).map(([name, given]) => {
    const schema = isObject(given) ? given : {}
    const isList = schema.type === 'array'
    const options = optionsOf(isList && isObject(schema.items) ? schema.items : schema)
    return {
      name,
      label: textOf(schema.title) ?? name,
      description: textOf(schema.description),
      kind: isList ? 'choices' : options.length > 0 ? 'choice' : kindOf(schema),
      options,
      required: wanted.includes(name),
      default: isValue(schema.default) ? schema.default : undefined,
      schema,
    }
  })
}

function kindOf({ type }: JsonObject): 'text' | 'number' | 'integer' | 'boolean' {
  return type === 'number' || type === 'integer' || type === 'boolean' ? type : 'text'
}

/** Options with titles are schemas of their own, or before 2025-11-25 two lists. */
function optionsOf({ enum: values, enumNames: titles, oneOf, anyOf }: JsonObject): FormOption[] {
  if (Array.isArray(values)) {
    const labels: unknown[] = Array.isArray(titles) ? titles : []
    return values.map((value, index) => optionOf(value, labels[index]))
  }
  const schemas: unknown[] = [oneOf ?? anyOf ?? []].flat()
  return schemas.filter(isObject).map((each) => optionOf(each.const, each.title))
}

function optionOf(value: unknown, title: unknown): FormOption {
  return { value: String(value), label: textOf(title) ?? String(value) }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function isValue(value: unknown): value is FormValue {
  return Array.isArray(value)
    ? value.every((each) => typeof each === 'string')
    : typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}
