/**
 * Converts the validator's errors into the issues and paths of Standard Schema.
 *
 * @see https://standardschema.dev
 */
import type { OutputUnit } from '@cfworker/json-schema'
import type { SchemaIssue } from '../protocol/standard-schema.ts'

/** The maximum number of issues. Further errors are omitted. */
const MAX_ISSUES = 20
const MAX_MESSAGE_CHARACTERS = 500

/** Keywords whose errors only refer to the errors of their subschemas, which come next in the list. */
const REFERRING_KEYWORDS = new Set([
  '$ref',
  '$recursiveRef',
  'allOf',
  'if',
  'properties',
  'patternProperties',
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
  'dependentSchemas',
  'prefixItems',
  'items',
  'additionalItems',
  'unevaluatedItems',
])

/** Converts errors, except those that only refer to other errors. Returns 1 to 20 issues. */
export function toIssues(errors: readonly OutputUnit[]): SchemaIssue[] {
  const issues = errors
    .filter(({ keyword }, index) =>
      // The keyword that applies a `false` subschema explains more than the error of that subschema
      REFERRING_KEYWORDS.has(keyword)
        ? errors[index + 1]?.keyword === 'false'
        : keyword !== 'false',
    )
    .slice(0, MAX_ISSUES)
    .map(({ error, instanceLocation }) => ({
      message: error.slice(0, MAX_MESSAGE_CHARACTERS).replace(/\.$/, ''),
      path: toPath(instanceLocation),
    }))
  return issues.length > 0 ? issues : [{ message: 'The value does not match the schema' }]
}

function toPath(location: string): string[] {
  return location
    .split('/')
    .slice(1)
    .map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'))
}
