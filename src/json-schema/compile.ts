/**
 * Compiles a JSON Schema into a copy that is safe to validate with: well-formed, bounded, with all
 * references inside the schema.
 *
 * @see https://json-schema.org/draft/2020-12/json-schema-core
 */
import { dereference, type Schema } from '@cfworker/json-schema'
import { SdkError, type SdkErrorCode } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import { boundedPattern, type BoundedPattern } from './bounded-pattern.ts'
import {
  drafts,
  findDraft,
  INVALID,
  keywords,
  readItems,
  type Draft,
  type Visit,
} from './keywords.ts'

/** Limits for a schema. */
export interface JsonSchemaLimits {
  /**
   * The maximum depth of nested subschemas.
   *
   * @default 100
   */
  maxDepth?: number
  /**
   * The maximum number of subschemas.
   *
   * @default 10000
   */
  maxSubschemas?: number
  /**
   * The maximum number of references followed while one value is validated. Without this limit, a small
   * schema whose references branch could take practically forever.
   *
   * @default 100000
   */
  maxReferences?: number
  /**
   * How often subschemas may be applied while one value is validated. A subschema with long lists
   * (`enum`, `required`) counts as several. By default, {@link jsonSchema} has no limit, because counting
   * takes time. {@link outputValidator} allows 1,000,000, because its schemas come from a server.
   */
  maxApplications?: number
  /**
   * Timeout for validating one value, in milliseconds. The clock is checked whenever a subschema is
   * applied. By default, {@link jsonSchema} has no timeout, and {@link outputValidator} allows 5,000.
   */
  timeoutMs?: number
  /**
   * How `pattern` and `patternProperties` are matched. `trusted` uses the platform's regular
   * expressions, which cannot be interrupted. `bounded` matches all strings of a value with all
   * patterns, and rejects the value if that takes too long. `bounded` also rejects schemas with patterns
   * that cannot be bounded: those with backreferences, lookbehind or inline flags. By default,
   * {@link jsonSchema} uses `trusted`, and {@link outputValidator} uses `bounded`.
   */
  patterns?: 'bounded' | 'trusted'
  /**
   * The maximum number of steps for matching bounded patterns with one value, in addition to ten steps
   * for each character of the value.
   *
   * @default 1000000
   */
  maxPatternSteps?: number
}

/** A schema that is ready for validation. */
export interface CompiledSchema {
  schema: Schema
  draft: Draft
  /** Every subschema, by its URI. */
  lookup: Record<string, Schema | boolean>
  /**
   * The remaining numbers of references and applications, which count down while a value is validated, and
   * when the validation must end, by `performance.now()`.
   */
  budget: { references: number; applications: number; until: number }
  /** The patterns whose steps must be counted. */
  patterns: BoundedPattern[]
  /** Whether the schema requires unique items, which are compared with each other at quadratic cost. */
  hasUniqueItems: boolean
}

/** Aborts the validation of a value that takes too long. */
export class WorkLimitError extends Error {}

/**
 * Validates and copies a schema.
 *
 * @throws {SdkError} `INVALID_USE` if the source is not a valid schema of its dialect; `UNSUPPORTED` for
 *   an unknown dialect and for references outside the schema; `LIMIT_EXCEEDED` if a limit is exceeded.
 */
export function compile(source: JsonObject, limits: JsonSchemaLimits): CompiledSchema {
  const { maxDepth = 100, maxSubschemas = 10_000, patterns: mode = 'trusted' } = limits
  const draft = draftOf(source.$schema)
  const budget = { references: 0, applications: 0, until: Infinity }
  const countsAll = limits.maxApplications !== undefined || limits.timeoutMs !== undefined
  const patterns: BoundedPattern[] = []
  const copies: Schema[] = []
  let hasUniqueItems = false

  const visit = (subschema: unknown, path: string, depth: number): unknown => {
    // Applying `true` to every part of a value takes time too, so it is counted like an empty schema
    const schema = subschema === true && countsAll ? {} : subschema
    if (typeof schema === 'boolean') return schema
    if (!isObject(schema)) throw schemaError('INVALID_USE', path, 'must be an object or a boolean')
    if (depth > maxDepth) throw schemaError('LIMIT_EXCEEDED', path, `is deeper than ${maxDepth}`)
    if (copies.length >= maxSubschemas) {
      throw schemaError('LIMIT_EXCEEDED', path, `is one of more than ${maxSubschemas} subschemas`)
    }
    if (schema.$schema !== undefined && draftOf(schema.$schema) !== draft) {
      throw schemaError('UNSUPPORTED', path, 'is of another dialect than the schema around it')
    }
    const copy: Schema = {}
    copies.push(copy)
    for (const [name, value] of Object.entries(schema)) {
      const keyword = name === 'items' ? undefined : keywords.get(name)
      const isKnown = name === 'items' || keyword !== undefined
      const isInDraft = keyword?.drafts?.includes(draft) ?? true
      if (!isKnown || !isInDraft) continue
      const visitPart: Visit = (part, partPath) =>
        visit(part, `${path}/${name}${partPath}`, depth + 1)
      const copiedValue = keyword
        ? keyword.read(value, visitPart)
        : readItems(draft, value, visitPart)
      if (copiedValue === INVALID)
        throw schemaError('INVALID_USE', `${path}/${name}`, 'is not valid')
      if (copiedValue !== undefined) copy[name] = copiedValue
    }
    hasUniqueItems ||= copy.uniqueItems === true
    if (mode === 'bounded') {
      for (const source of patternsOf(copy)) {
        const pattern = boundedPattern(source)
        if (!pattern) throw schemaError('UNSUPPORTED', path, 'has a pattern that cannot be bounded')
        // Every name is matched with patterns for names, so even a linear pattern is counted
        if (!pattern.isLinear || copy.patternProperties) patterns.push(pattern)
      }
    }
    return copy
  }

  const schema = visit(source, '#', 0) as Schema
  resolveDynamicReferences(copies)
  const lookup = indexSubschemas(schema)
  for (const copy of copies) {
    if (copy.$ref !== undefined && lookup[copy.__absolute_ref__ ?? ''] === undefined) {
      throw new SdkError(
        'UNSUPPORTED',
        `Cannot resolve "$ref" "${copy.$ref}": only references inside the schema are followed`,
      )
    }
    countWork(copy, budget, countsAll)
  }
  return { schema, draft, lookup, budget, hasUniqueItems, patterns }
}

function schemaError(code: SdkErrorCode, path: string, reason: string): SdkError {
  return new SdkError(code, `Cannot use JSON Schema: "${path}" ${reason}`)
}

function draftOf(dialect: unknown): Draft {
  const draft = findDraft(dialect)
  if (draft) return draft
  const supported = [...drafts.keys()].join('", "')
  throw new SdkError(
    'UNSUPPORTED',
    `JSON Schema dialect ${JSON.stringify(dialect)} is not supported; known are "${supported}"`,
  )
}

function indexSubschemas(schema: Schema): Record<string, Schema | boolean> {
  try {
    return dereference(schema)
  } catch (cause) {
    throw new SdkError('INVALID_USE', 'Cannot use JSON Schema: its identifiers are not valid', {
      cause,
    })
  }
}

/**
 * Converts dynamic references into plain references, the only ones that the validator supports. Both kinds are
 * equivalent if the anchor's name is used only once.
 */
function resolveDynamicReferences(copies: Schema[]): void {
  const anchors = copies.flatMap(({ $dynamicAnchor }) => ($dynamicAnchor as string) ?? [])
  for (const copy of [...copies]) {
    const { $dynamicAnchor, $dynamicRef } = copy as Record<string, string | undefined>
    if ($dynamicAnchor !== undefined) {
      const isRepeated = anchors.filter((name) => name === $dynamicAnchor).length > 1
      if (isRepeated || (copy.$anchor !== undefined && copy.$anchor !== $dynamicAnchor)) {
        throw new SdkError(
          'UNSUPPORTED',
          `Cannot use JSON Schema: "$dynamicAnchor" "${$dynamicAnchor}" is not the only one`,
        )
      }
      copy.$anchor = $dynamicAnchor
    }
    if ($dynamicRef !== undefined) {
      const reference = { $ref: $dynamicRef }
      copy.allOf = [...(copy.allOf ?? []), reference]
      copies.push(reference)
    }
  }
}

/** A subschema whose lists have this length as JSON, in characters, counts like two subschemas. */
const LIST_LENGTH = 100

/**
 * Counts how often a subschema is applied, by a getter for its `type`: the validator reads `type` each
 * time it applies a subschema, even if the subschema has a reference.
 */
function countWork(schema: Schema, budget: CompiledSchema['budget'], countsAll: boolean): void {
  const { type, $ref, $recursiveRef, enum: values, const: value, required } = schema
  const isReference = $ref !== undefined || $recursiveRef !== undefined
  if (!isReference && !countsAll) return
  const lists = [values, value, required, schema.dependentRequired, schema.dependencies]
  const weight = 1 + Math.floor(JSON.stringify(lists).length / LIST_LENGTH)
  const get = () => {
    budget.applications -= weight
    if (isReference) budget.references--
    const { applications, references, until } = budget
    if (applications < 0 || references < 0 || performance.now() > until) throw new WorkLimitError()
    return type
  }
  Object.defineProperty(schema, 'type', { get })
}

function patternsOf({ pattern, patternProperties = {} }: Schema): string[] {
  return [...(pattern === undefined ? [] : [pattern]), ...Object.keys(patternProperties)]
}
