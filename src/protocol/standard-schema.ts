/**
 * The part of Standard Schema that Edgewise reads: validation, and JSON Schema output.
 *
 * @see https://standardschema.dev
 */
import type { JsonObject } from './types.ts'

/**
 * A schema that validates values and provides its JSON Schema, such as a schema of zod 4.2 or later, ArkType or
 * Valibot.
 *
 * @see https://standardschema.dev
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** The interface of Standard Schema: validation, types and JSON Schema. */
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    /** Validates a value. */
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
    readonly jsonSchema: {
      /** Converts the schema of accepted values to JSON Schema. */
      readonly input: (options: { target: string }) => JsonObject
      /** Converts the schema of validated values to JSON Schema. */
      readonly output: (options: { target: string }) => JsonObject
    }
  }
}

/** The result of validation. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

/** One reason why a value is invalid. */
export interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** The type of a schema's validated value. */
export type InferOutput<Schema extends StandardSchema> = NonNullable<
  Schema['~standard']['types']
>['output']

/** The type of value that a schema accepts. */
export type InferInput<Schema extends StandardSchema> = NonNullable<
  Schema['~standard']['types']
>['input']

/**
 * The JSON Schema of a schema's input or output.
 *
 * @param label The name of the schema in error messages.
 * @throws {TypeError} If the schema has no JSON Schema. For a zod object, the error names the member that has
 *   none.
 */
export function jsonSchemaOf(
  schema: StandardSchema & { shape?: Record<string, StandardSchema> },
  label: string,
  side: 'input' | 'output' = 'input',
): JsonObject {
  const { '~standard': standard, shape = {} } = schema
  try {
    return standard.jsonSchema[side]({ target: 'draft-2020-12' })
  } catch (cause) {
    // Throws the error of a member without a JSON Schema, if there is one
    for (const [name, member] of Object.entries(shape))
      jsonSchemaOf(member, `${label}, "${name}",`, side)
    const reason = standard?.jsonSchema
      ? (cause as Error).message
      : 'use z.object() of "zod" 4.2 or newer'
    throw new TypeError(`${label} has no JSON Schema: ${reason}`, { cause })
  }
}

/**
 * Describes in one line why a value is invalid, with the path of each issue. Used in all messages about
 * arguments of tools and prompts, output, and responses to input requests.
 */
export function describeIssues(issues: readonly SchemaIssue[]): string {
  return issues
    .map(({ message, path = [] }) => {
      const keys = path.map((part) => String(typeof part === 'object' ? part.key : part))
      return keys.length > 0 ? `${keys.join('.')}: ${message}` : message
    })
    .join('; ')
}
