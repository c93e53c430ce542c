/**
 * What the validator found, in the words and paths of Standard Schema.
 *
 * @see https://standardschema.dev
 */
import type { OutputUnit } from '@cfworker/json-schema'
import type { SchemaIssue } from '../protocol/standard-schema.ts'

const MAX_ISSUES = 20
const MAX_MESSAGE_CHARACTERS = 500

/** Keywords whose findings only lead to those of their subschemas, which follow them. */
const LEADING = new Set([
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

/** The reasons, without those that only point to others; never empty, at most 20. */
export function toIssues(errors: readonly OutputUnit[]): SchemaIssue[] {
  const issues = errors
    .filter(({ keyword }, i) =>
      // A subschema of `false` says less than the keyword that leads to it.
      LEADING.has(keyword) ? errors[i + 1]?.keyword === 'false' : keyword !== 'false',
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
