import assert from 'node:assert/strict'
import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { jsonSchema } from '../../src/json-schema/index.ts'
import type { JsonObject } from '../../src/protocol/types.ts'
import type { SchemaResult } from '../../src/protocol/standard-schema.ts'
import { repeat, type Random } from './random.ts'

const DRAFT_7 = 'http://json-schema.org/draft-07/schema#'
const NAMES = ['a', 'b', 'c']

function randomValue(random: Random, depth = 3): unknown {
  const kind = random.below(depth > 0 ? 9 : 6)
  if (kind >= 7) {
    const entries = NAMES.filter(() => random.chance(0.6))
    return Object.fromEntries(entries.map((name) => [name, randomValue(random, depth - 1)]))
  }
  if (kind === 6) return random.list(4, () => randomValue(random, depth - 1))
  return random.pick([null, true, false, 0, 1, 2, 2.5, '', 'a', 'ab', 'abc'])
}

function randomSchema(
  random: Random,
  draft7: boolean,
  depth = 3,
  refs = true,
): JsonObject | boolean {
  if (depth === 0 || random.chance(0.1)) {
    return random.pick<JsonObject | boolean>([true, false, {}, { type: 'string' }, { const: 1 }])
  }
  const sub = () => randomSchema(random, draft7, depth - 1, refs)
  const list = () => [sub(), ...random.list(2, sub)]
  const map = () =>
    Object.fromEntries(NAMES.filter(() => random.chance(0.5)).map((n) => [n, sub()]))
  const type = () => random.pick(['object', 'array', 'string', 'number', 'integer', 'null'])
  const makers: Record<string, () => unknown> = {
    type: () => (random.chance(0.3) ? [...new Set([type(), type()])] : type()),
    enum: () => [randomValue(random, 1), 'only'],
    const: () => randomValue(random, 1),
    minimum: () => random.below(3),
    exclusiveMaximum: () => random.below(4),
    multipleOf: () => random.pick([1, 0.5, 2]),
    minLength: () => random.below(3),
    maxLength: () => random.below(4),
    pattern: () => random.pick(['^a', 'b$', '.']),
    minItems: () => random.below(3),
    maxItems: () => random.below(4),
    uniqueItems: () => random.chance(0.5),
    contains: sub,
    required: () => NAMES.filter(() => random.chance(0.3)),
    minProperties: () => random.below(3),
    maxProperties: () => random.below(4),
    properties: map,
    patternProperties: () => ({ '^[ab]$': sub() }),
    additionalProperties: sub,
    propertyNames: () => ({ maxLength: 1 }),
    allOf: list,
    anyOf: list,
    oneOf: list,
    not: sub,
    if: sub,
    then: sub,
    else: sub,
    ...(draft7
      ? { items: () => (random.chance(0.4) ? list() : sub()), additionalItems: sub }
      : {
          items: sub,
          prefixItems: list,
          minContains: () => random.below(3),
          maxContains: () => 1 + random.below(3),
          dependentRequired: () => ({ a: ['b'] }),
          dependentSchemas: () => ({ a: sub() }),
          unevaluatedProperties: () => random.chance(0.3),
          ...(refs && { $ref: () => random.pick(['#/$defs/x', '#y']) }),
        }),
  }
  const chosen = Object.keys(makers)
    .filter(() => random.chance(0.1))
    // With both, Ajv lets an empty list contain what it does not.
    .filter((name, _, all) => name !== 'contains' || !all.includes('prefixItems'))
  return Object.fromEntries(chosen.map((name) => [name, makers[name]!()]))
}

describe('jsonSchema, fuzzed against an independent validator', () => {
  it.each([
    ['2020-12', false],
    ['draft-07', true],
  ])('accepts and refuses the same values in %s [L-COM-008] [L-COM-009]', async (_, draft7) => {
    const options = { strict: false, validateFormats: false, logger: false as const }
    const ajv = draft7 ? new Ajv(options) : new Ajv2020(options)
    const outcomes = { accepted: 0, refused: 0 }
    await repeat(25, (random) => {
      const root = { allOf: [randomSchema(random, draft7), randomSchema(random, draft7)] }
      const schema: JsonObject = draft7
        ? { $schema: DRAFT_7, ...root }
        : {
            ...root,
            $defs: {
              x: randomSchema(random, false, 1, false),
              y: { $anchor: 'y', anyOf: [randomSchema(random, false, 1, false)] },
            },
          }
      const expected = ajv.compile(schema)
      const { validate } = jsonSchema(schema)['~standard']
      for (let i = 0; i < 20; i++) {
        const value = randomValue(random)
        const { issues } = validate(value) as SchemaResult<unknown>
        const what = `${JSON.stringify(schema)} on ${JSON.stringify(value)}`
        assert.equal(!issues, expected(value), what)
        outcomes[issues ? 'refused' : 'accepted']++
      }
    })
    expect(Math.min(outcomes.accepted, outcomes.refused)).toBeGreaterThan(60)
  })
})
