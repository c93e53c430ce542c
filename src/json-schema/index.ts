/**
 * JSON Schema for tools whose schemas are written, generated or received as JSON.
 *
 * Supports the dialects 2020-12 (the default without `$schema`), 2019-09 and draft-07. Uses neither
 * `eval` nor the network.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#json-schema-usage
 * @module
 */
import { validate } from '@cfworker/json-schema'
import { SdkError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/types.ts'
import {
  describeIssues,
  type SchemaResult,
  type StandardSchema,
} from '../protocol/standard-schema.ts'
import { compile, WorkLimitError, type CompiledSchema, type JsonSchemaLimits } from './compile.ts'
import { toIssues } from './issues.ts'
import { requireBoundedWork } from './pattern-work.ts'

/** If a value has more parts than this, only its first issue is reported. */
const MAX_EXPLAINED_PARTS = 1000
/** Defaults for schemas received from a server. */
const UNTRUSTED: JsonSchemaLimits = {
  patterns: 'bounded',
  maxApplications: 1_000_000,
  timeoutMs: 5_000,
}
/** The maximum number of comparisons that `uniqueItems` may need for one list. */
const MAX_COMPARISONS = 10_000_000

/**
 * Creates a schema for tools and clients from a JSON Schema. Clients see the JSON Schema exactly as given.
 *
 * - `$ref` may point only inside the schema, because nothing is fetched. `$dynamicRef` is supported if the
 *   name of its anchor is used only once.
 * - `format` is asserted for the formats of the specification.
 * - A value is rejected if validating it exceeds a limit.
 * - `pattern` uses the platform's regular expressions, which cannot be interrupted: pass `patterns:
 *   'bounded'` for untrusted schemas.
 *
 * @example
 * ```ts
 * import { jsonSchema } from 'edgewise/json-schema'
 * import { createServer } from 'edgewise/server'
 *
 * const input = jsonSchema<{ city: string }>({
 *   type: 'object',
 *   properties: { city: { type: 'string' } },
 *   required: ['city'],
 * })
 * const server = createServer({ name: 'travel', version: '1.0.0' })
 * server.tool('weather', { input }, ({ city }) => `Sunny in ${city}`)
 * ```
 *
 * @typeParam T The type of valid values; it is not checked.
 * @throws {SdkError} `INVALID_USE` if the schema is not valid in its dialect; `UNSUPPORTED` for an
 *   unknown dialect and for references outside the schema; `LIMIT_EXCEEDED` if a limit is exceeded.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#json-schema-usage
 */
export function jsonSchema<T = unknown>(
  schema: JsonObject,
  limits: JsonSchemaLimits = {},
): StandardSchema<T> {
  const compiled = compile(schema, limits)
  return {
    '~standard': {
      version: 1,
      vendor: 'edgewise',
      validate: (value) => validateValue<T>(compiled, value, limits),
      jsonSchema: { input: () => schema, output: () => schema },
    },
  }
}

/**
 * Creates the `validateOutput` option of a client, which validates structured output against the
 * schema that the server declares. If a schema cannot be used, every value is rejected, because the
 * requirements are unknown. Each schema is compiled once. By default, the steps of patterns and the
 * applications of subschemas are limited, so that a server cannot make the client hang.
 *
 * @example
 * ```ts
 * import { connect } from 'edgewise/client'
 * import { outputValidator } from 'edgewise/json-schema'
 *
 * const client = await connect('https://example.com/mcp', { validateOutput: outputValidator() })
 * ```
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#output-schema
 */
export function outputValidator(
  limits: JsonSchemaLimits = {},
): (schema: JsonObject, value: unknown) => string | undefined {
  const cache = new WeakMap<JsonObject, StandardSchema>()
  return (schema, value) => {
    try {
      const compiled = cache.get(schema) ?? jsonSchema(schema, { ...UNTRUSTED, ...limits })
      cache.set(schema, compiled)
      const { issues } = compiled['~standard'].validate(value) as SchemaResult<unknown>
      return issues && describeIssues(issues)
    } catch (error) {
      return error instanceof SdkError ? error.message : 'Cannot use JSON Schema'
    }
  }
}

function validateValue<T>(
  compiled: CompiledSchema,
  value: unknown,
  limits: JsonSchemaLimits,
): SchemaResult<T> {
  const {
    maxReferences = 100_000,
    maxApplications = Infinity,
    maxPatternSteps = 1_000_000,
  } = limits
  const until = performance.now() + (limits.timeoutMs ?? Infinity)
  /** @param firstOnly Whether to stop at the first error. */
  const validateWithinBudget = (firstOnly: boolean) => {
    const { schema, draft, lookup, budget } = compiled
    budget.references = maxReferences
    budget.applications = maxApplications
    budget.until = until
    return validate(value, schema, draft, lookup, firstOnly)
  }
  try {
    if (compiled.hasUniqueItems) countParts(value, MAX_COMPARISONS)
    const { patterns } = compiled
    if (patterns.length > 0) {
      requireBoundedWork(patterns, value, maxPatternSteps, () => new WorkLimitError())
    }
    const { valid, errors: firstErrors } = validateWithinBudget(true)
    if (valid) return { value: value as T }
    const isSmall = countParts(value, Infinity) <= MAX_EXPLAINED_PARTS
    return { issues: toIssues(isSmall ? validateWithinBudget(false).errors : firstErrors) }
  } catch (error) {
    // A value that cannot be validated is rejected. Deep nesting exceeds the stack, which is a `RangeError`
    const isTooMuchWork = error instanceof WorkLimitError || error instanceof RangeError
    const message = isTooMuchWork ? 'The value takes too long to validate' : 'The value is not JSON'
    return { issues: [{ message }] }
  }
}

/** Counts the parts of a value. Throws if the items of a list need too many comparisons. */
function countParts(value: unknown, maxComparisons: number): number {
  if (typeof value !== 'object' || value === null) return 1
  const items: unknown[] = Object.values(value)
  const parts = items.reduce<number>((sum, item) => sum + countParts(item, maxComparisons), 1)
  if (Array.isArray(value) && items.length * parts > maxComparisons) throw new WorkLimitError()
  return parts
}
