/**
 * Finds the changes of an event type that break its subscribers.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { JsonObject } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import type { EventType } from './wire.ts'

/** A change that breaks subscribers. */
export interface BreakingChange {
  readonly feature: 'inputSchema' | 'payloadSchema'
  /** The member, such as `customer.id`; empty for the whole value. */
  readonly path: string
  /** What changed, and what to do. */
  readonly message: string
}

/** The constraints that a larger number tightens. */
const LOWER_LIMITS = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties']
/** The constraints that a smaller number tightens. */
const UPPER_LIMITS = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties']
/** The constraints of which any change counts as tightening. */
const OTHER_LIMITS = ['pattern', 'format', 'const', 'multipleOf', '$ref']

/**
 * Finds the changes of an event type that break its subscribers. If there are any, offer the changed type
 * under a new name, and keep the old type for a while.
 *
 * @param before The type before the change, which clients know.
 * @param after The type after the change.
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
export function breakingChanges(
  before: Pick<EventType, 'inputSchema' | 'payloadSchema'>,
  after: Pick<EventType, 'inputSchema' | 'payloadSchema'>,
): BreakingChange[] {
  return (['inputSchema', 'payloadSchema'] as const).flatMap((feature) =>
    findChanges(before[feature], after[feature], feature === 'inputSchema', '').map(
      ([path, problem]) => {
        const subject = path === '' ? `"${feature}"` : `"${path}" of "${feature}"`
        const advice = 'offer a type with a new name beside this one'
        return { feature, path, message: `${subject} ${problem}: ${advice}` }
      },
    ),
  )
}

type Change = readonly [path: string, problem: string]

/**
 * Finds the breaking changes of a schema.
 *
 * @param isInput Whether the schema describes arguments, and not payloads.
 * @param path The path of the member that the schema describes; empty for the whole value.
 */
function findChanges(before: unknown, after: unknown, isInput: boolean, path: string): Change[] {
  if (!isObject(before) || !isObject(after)) {
    const isSame = JSON.stringify(before) === JSON.stringify(after)
    const isCompatible = isSame || after === true || (isInput && before === false)
    return isCompatible ? [] : [[path, 'was replaced']]
  }
  const changes: Change[] = []
  const addChange = (problem: string): void => void changes.push([path, problem])
  const [types, newTypes] = [typesOf(before), typesOf(after)]
  // Arguments may only become wider, payloads only narrower
  const [smaller, larger] = isInput ? [types, newTypes] : [newTypes, types]
  if (larger && !smaller?.every((type) => larger.includes(type))) addChange('has another type')
  const [values, newValues] = [before.enum, after.enum]
  if (Array.isArray(newValues)) {
    const isNarrower = Array.isArray(values)
      ? values.some((value) => !newValues.includes(value))
      : isInput
    if (isNarrower) addChange('allows fewer values')
  }
  if (isInput && isTighter(before, after)) addChange('has tighter limits')
  if (isInput && after.additionalProperties === false && before.additionalProperties !== false) {
    addChange('no longer allows other members')
  }
  const required = requiredOf(before)
  const newRequired = requiredOf(after)
  const properties = membersOf(before)
  const newProperties = membersOf(after)
  for (const [name, schema] of Object.entries(properties)) {
    const memberPath = path === '' ? name : `${path}.${name}`
    if (!Object.hasOwn(newProperties, name)) {
      changes.push([memberPath, 'was removed'])
      continue
    }
    changes.push(...findChanges(schema, newProperties[name], isInput, memberPath))
    if (!isInput && required.includes(name) && !newRequired.includes(name)) {
      changes.push([memberPath, 'is no longer always present'])
    }
  }
  for (const name of isInput ? newRequired : []) {
    const memberPath = path === '' ? name : `${path}.${name}`
    if (!required.includes(name)) changes.push([memberPath, 'is now required'])
  }
  for (const keyword of ['items', 'anyOf', 'oneOf', 'allOf']) {
    const [schemas, newSchemas] = [[before[keyword] ?? []].flat(), [after[keyword] ?? []].flat()]
    schemas.forEach((schema, index) => {
      // A missing new schema counts as `false` in arguments, which is incompatible, and as `true` in payloads
      changes.push(...findChanges(schema, newSchemas[index] ?? !isInput, isInput, path))
    })
  }
  return changes
}

/** Whether a schema has a limit that allows less than before. */
function isTighter(before: JsonObject, after: JsonObject): boolean {
  const limit = (schema: JsonObject, name: string, fallback: number): number =>
    typeof schema[name] === 'number' ? schema[name] : fallback
  return (
    LOWER_LIMITS.some((name) => limit(after, name, -Infinity) > limit(before, name, -Infinity)) ||
    UPPER_LIMITS.some((name) => limit(after, name, Infinity) < limit(before, name, Infinity)) ||
    OTHER_LIMITS.some((name) => after[name] !== undefined && after[name] !== before[name])
  )
}

/** The types that a schema allows; undefined if it allows all types. */
function typesOf({ type }: JsonObject): unknown[] | undefined {
  if (type === undefined) return undefined
  const types: unknown[] = [type].flat()
  // An integer is also a number
  return types.includes('number') ? [...types, 'integer'] : types
}

function requiredOf({ required }: JsonObject): string[] {
  return Array.isArray(required) ? (required as string[]) : []
}

function membersOf({ properties }: JsonObject): JsonObject {
  return isObject(properties) ? properties : {}
}
