import { createServer } from 'node:http'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { JsonSchemaLimits } from '../../src/json-schema/compile.ts'
import { jsonSchema } from '../../src/json-schema/index.ts'
import type { JsonObject } from '../../src/protocol/types.ts'
import { describeIssues, type SchemaResult } from '../../src/protocol/standard-schema.ts'
import { settled } from '../settled.ts'

const DRAFT_2020 = 'https://json-schema.org/draft/2020-12/schema'
const DRAFT_2019 = 'https://json-schema.org/draft/2019-09/schema'
const DRAFT_7 = 'http://json-schema.org/draft-07/schema#'

const check = (schema: JsonObject, value: unknown, limits?: JsonSchemaLimits) =>
  jsonSchema(schema, limits)['~standard'].validate(value) as SchemaResult<unknown>
const accepts = (schema: JsonObject, value: unknown) => !check(schema, value).issues
const compiling = (schema: JsonObject, limits?: JsonSchemaLimits) => () =>
  jsonSchema(schema, limits)
const error = (code: string, text = '') =>
  expect.objectContaining({ code, message: expect.stringContaining(text) })

describe('jsonSchema', () => {
  it('returns an accepted value unchanged', () => {
    const value = { city: 'Oslo', extra: 1 }

    expect(check({ type: 'object' }, value)).toEqual({ value })
    expect(check({ type: 'object' }, value)).toHaveProperty(
      'value',
      expect.toSatisfy((v) => v === value),
    )
  })

  it('exposes the schema unchanged, with every keyword [M-BASE-062]', () => {
    const schema = {
      $schema: DRAFT_2020,
      $defs: { a: { type: 'string', 'x-own': 1 } },
      type: 'object',
      properties: { a: { $ref: '#/$defs/a', title: 'A', examples: ['x'] } },
      additionalProperties: false,
      if: { required: ['a'] },
      then: {},
    }
    const before = JSON.stringify(schema)
    const { jsonSchema: shown, validate } = jsonSchema(schema)['~standard']
    void validate({ a: 'x' })

    expect(shown.input({ target: 'draft-2020-12' })).toBe(schema)
    expect(shown.output({ target: 'draft-2020-12' })).toBe(schema)
    expect(JSON.stringify(schema)).toBe(before)
    expect(Object.getOwnPropertyNames(schema.properties.a)).toEqual(['$ref', 'title', 'examples'])
  })

  it('accepts a frozen schema', () => {
    const schema = Object.freeze({ properties: Object.freeze({ a: Object.freeze({ $ref: '#' }) }) })

    expect(accepts(schema, { a: {} })).toBe(true)
  })

  it('reports where and why a value was rejected', () => {
    const schema = {
      type: 'object',
      properties: {
        city: { type: 'string', minLength: 1 },
        guests: { type: 'array', items: { type: 'object', required: ['name'] } },
        'a/b~c %': { type: 'string' },
      },
      required: ['city'],
      additionalProperties: false,
    }
    const { issues = [] } = check(schema, { guests: [{}], 'a/b~c %': 1, other: 1 })

    expect(issues).toEqual([
      { path: [], message: 'Instance does not have required property "city"' },
      { path: ['guests', '0'], message: 'Instance does not have required property "name"' },
      { path: ['a/b~c %'], message: 'Instance type "number" is invalid. Expected "string"' },
      { path: [], message: 'Property "other" does not match additional properties schema' },
    ])
    expect(describeIssues(issues)).toContain('guests.0: Instance does not have')
  })

  it('reports at most twenty reasons, however long the value', () => {
    const { issues } = check({ items: { type: 'string' } }, Array(500).fill(1))

    expect(issues).toHaveLength(20)
  })

  it.each([
    ['undefined', undefined],
    ['a function', () => 1],
    ['a bigint', 1n],
    ['a symbol', Symbol('x')],
  ])('rejects %s', (_, value) => {
    expect(accepts({}, value)).toBe(false)
    expect(accepts({ properties: { a: {} } }, { a: value })).toBe(false)
  })

  it('treats names such as __proto__ as plain data', () => {
    const properties = { ['__proto__']: { type: 'string' }, constructor: { type: 'number' } }
    const schema = { type: 'object', properties, required: ['__proto__', 'constructor'] }

    expect(accepts(schema, {})).toBe(false)
    expect(accepts(schema, JSON.parse('{"__proto__":"x","constructor":1}'))).toBe(true)
    expect(accepts(schema, JSON.parse('{"__proto__":1,"constructor":1}'))).toBe(false)
    expect(accepts({ additionalProperties: false }, JSON.parse('{"__proto__":1}'))).toBe(false)
    for (const format of ['constructor', '__proto__', 'toString', 'own', 'url']) {
      expect(accepts({ format }, 'x')).toBe(true)
    }
  })
})

describe('JSON Schema dialects', () => {
  it('takes a schema without $schema as 2020-12 [L-COM-008] [M-BASE-050]', () => {
    const schema = {
      $defs: { node: { $dynamicAnchor: 'node', type: 'object' } },
      type: 'object',
      properties: {
        pair: { prefixItems: [{ type: 'string' }, { type: 'number' }], items: false },
        node: { $dynamicRef: '#node' },
      },
      dependentRequired: { pair: ['node'] },
      unevaluatedProperties: false,
    }

    expect(accepts(schema, { pair: ['a', 1], node: {} })).toBe(true)
    expect(accepts(schema, { pair: [1, 'a'], node: {} })).toBe(false)
    expect(accepts(schema, { pair: ['a', 1, 2], node: {} })).toBe(false)
    expect(accepts(schema, { pair: ['a', 1], node: 1 })).toBe(false)
    expect(accepts(schema, { pair: ['a', 1] })).toBe(false)
    expect(accepts(schema, { other: 1 })).toBe(false)
  })

  it('applies $schema: a list of items is a tuple in draft-07 only [L-COM-009] [M-BASE-051]', () => {
    const tuple = { items: [{ type: 'string' }], additionalItems: false }
    for (const $schema of [DRAFT_7, DRAFT_2019]) {
      expect(accepts({ $schema, ...tuple }, ['a'])).toBe(true)
      expect(accepts({ $schema, ...tuple }, [1])).toBe(false)
      expect(accepts({ $schema, ...tuple }, ['a', 'b'])).toBe(false)
    }
    expect(compiling({ $schema: DRAFT_2020, ...tuple })).toThrow(error('INVALID_USE', '#/items'))
    expect(compiling(tuple)).toThrow(error('INVALID_USE', '#/items'))
  })

  it('applies $schema: draft-07 has no prefixItems and ignores the siblings of $ref', () => {
    const prefixItems = [{ type: 'string' }]
    const sibling = { definitions: { a: {} }, allOf: [{ $ref: '#/definitions/a', type: 'string' }] }

    expect(accepts({ $schema: DRAFT_7, prefixItems }, [1])).toBe(true)
    expect(accepts({ $schema: DRAFT_2020, prefixItems }, [1])).toBe(false)
    expect(accepts({ $schema: DRAFT_7, ...sibling }, 1)).toBe(true)
    expect(accepts({ $schema: DRAFT_2020, ...sibling }, 1)).toBe(false)
  })

  it.each([
    ['https://example.com/x'],
    ['http://json-schema.org/draft-04/schema#'],
    ['https://json-schema.org/draft/2020-12/schema/x'],
    [''],
    [5],
    [null],
  ])('names %j as a dialect that is not supported [L-COM-009] [M-BASE-052]', ($schema) => {
    const text = `dialect ${JSON.stringify($schema)} is not supported`

    expect(compiling({ $schema })).toThrow(error('UNSUPPORTED', text))
    expect(compiling({ $schema })).toThrow(error('UNSUPPORTED', DRAFT_2020))
  })

  it('refuses a part that is of another dialect', () => {
    expect(compiling({ $defs: { a: { $schema: DRAFT_7 } } })).toThrow(
      error('UNSUPPORTED', '$defs/a'),
    )
    expect(accepts({ $defs: { a: { $schema: DRAFT_2020 } } }, 1)).toBe(true)
  })

  it.each<[string, JsonObject]>([
    ['#/type', { type: 5 }],
    ['#/type', { type: 'objct' }],
    ['#/type', { type: [] }],
    ['#/properties/a/type', { properties: { a: { type: 'str' } } }],
    ['#/properties', { properties: [] }],
    ['#/properties/a', { properties: { a: 'string' } }],
    ['#/required', { required: 'a' }],
    ['#/required', { required: [1] }],
    ['#/enum', { enum: 'a' }],
    ['#/minLength', { minLength: -1 }],
    ['#/maxItems', { maxItems: 1.5 }],
    ['#/minimum', { minimum: '1' }],
    ['#/exclusiveMinimum', { exclusiveMinimum: true }],
    ['#/multipleOf', { multipleOf: 0 }],
    ['#/pattern', { pattern: '(' }],
    ['#/patternProperties', { patternProperties: { '(': {} } }],
    ['#/allOf', { allOf: {} }],
    ['#/anyOf', { anyOf: [] }],
    ['#/oneOf/1', { oneOf: [{}, 1] }],
    ['#/not', { not: null }],
    ['#/$ref', { $ref: 5 }],
    ['#/$id', { $id: {} }],
    ['#/dependentRequired', { dependentRequired: { a: 'b' } }],
  ])('refuses a schema whose %s is not valid [L-COM-010] [M-BASE-054]', (path, schema) => {
    expect(compiling(schema)).toThrow(error('INVALID_USE', `"${path}"`))
  })

  it('refuses identifiers that are not valid', () => {
    expect(compiling({ $id: 'http://[' })).toThrow(error('INVALID_USE'))
  })
})

describe('JSON Schema references', () => {
  afterEach(() => vi.restoreAllMocks())

  it('follows references inside the schema, recursion included [M-BASE-060]', () => {
    const tree = {
      $id: 'https://example.com/tree',
      type: 'object',
      properties: {
        children: { type: 'array', items: { $ref: '#' } },
        label: { $ref: '#label' },
        size: { $ref: 'tree#/$defs/a~1b%25' },
      },
      $defs: { label: { $anchor: 'label', type: 'string' }, 'a/b%': { type: 'integer' } },
      additionalProperties: false,
    }

    expect(accepts(tree, { children: [{ children: [], label: 'x' }], size: 1 })).toBe(true)
    expect(accepts(tree, { children: [{ children: [{ other: 1 }] }] })).toBe(false)
    expect(accepts(tree, { label: 1 })).toBe(false)
    expect(accepts(tree, { size: 1.5 })).toBe(false)
  })

  it('follows $recursiveRef in 2019-09', () => {
    const tree = {
      $schema: DRAFT_2019,
      properties: { next: { $recursiveRef: '#' } },
      required: ['v'],
    }

    expect(accepts(tree, { v: 1, next: { v: 1 } })).toBe(true)
    expect(accepts(tree, { v: 1, next: {} })).toBe(false)
  })

  it('refuses dynamic references that would lead to several places', () => {
    const $defs = {
      a: { $id: 'a', $dynamicAnchor: 'node' },
      b: { $id: 'b', $dynamicAnchor: 'node' },
    }

    expect(compiling({ $defs, $ref: 'a' })).toThrow(error('UNSUPPORTED', '"node"'))
  })

  it.each([
    ['https://example.com/schema.json'],
    ['http://169.254.169.254/latest/meta-data'],
    ['file:///etc/passwd'],
    ['other.json'],
    ['#/$defs/missing'],
    ['#missing'],
    [DRAFT_2020],
  ])('refuses a schema with a reference to %s [M-BASE-059]', ($ref) => {
    const text = `Cannot resolve "$ref" "${$ref}"`

    expect(compiling({ properties: { a: { $ref } } })).toThrow(error('UNSUPPORTED', text))
    expect(compiling({ properties: { a: { $dynamicRef: $ref } } })).toThrow(
      error('UNSUPPORTED', text),
    )
  })

  it('never goes to the network [M-BASE-055] [M-BASE-056]', async () => {
    let hits = 0
    const canary = createServer((_, response) => {
      hits++
      response.end('{}')
    })
    await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve))
    const fetched = vi.spyOn(globalThis, 'fetch')
    const { port } = canary.address() as { port: number }
    const url = `http://127.0.0.1:${port}/schema.json`

    expect(compiling({ $ref: url })).toThrow(error('UNSUPPORTED'))
    expect(compiling({ $schema: url })).toThrow(error('UNSUPPORTED'))
    expect(accepts({ $id: url, properties: { a: { $ref: '#' } } }, { a: {} })).toBe(true)
    await settled()
    await new Promise((resolve) => canary.close(resolve))

    expect(hits).toBe(0)
    expect(fetched).not.toHaveBeenCalled()
  })
})

describe('JSON Schema limits', () => {
  const nested = (levels: number) => {
    let schema: JsonObject = {}
    for (let i = 0; i < levels; i++) schema = { allOf: [schema] }
    return schema
  }

  it('bound the nesting of subschemas [M-BASE-061]', () => {
    expect(compiling(nested(100))).not.toThrow()
    expect(compiling(nested(101))).toThrow(error('LIMIT_EXCEEDED', 'deeper than 100'))
    expect(compiling(nested(10_000))).toThrow(error('LIMIT_EXCEEDED'))
    expect(compiling(nested(5), { maxDepth: 4 })).toThrow(error('LIMIT_EXCEEDED', 'deeper than 4'))
    expect(compiling(nested(500), { maxDepth: 500 })).not.toThrow()
  })

  it('bound the number of subschemas [M-BASE-061]', () => {
    const wide = (count: number) => ({ anyOf: Array.from({ length: count - 1 }, () => ({})) })

    expect(compiling(wide(10_000))).not.toThrow()
    expect(compiling(wide(10_001))).toThrow(error('LIMIT_EXCEEDED', 'more than 10000'))
    expect(compiling(wide(4), { maxSubschemas: 3 })).toThrow(error('LIMIT_EXCEEDED'))
  })

  it('stop references that multiply alternatives [M-BASE-061]', () => {
    const $defs: JsonObject = { s40: { type: 'string' } }
    for (let i = 0; i < 40; i++) {
      const next = { $ref: `#/$defs/s${i + 1}` }
      $defs[`s${i}`] = { anyOf: [next, next] }
    }
    // Each level doubles the work: to its end this would follow 2^40 references.
    const { issues } = check({ $defs, $ref: '#/$defs/s0' }, 1, { maxReferences: 10_000 })

    expect(issues).toEqual([{ message: 'The value takes too long to validate' }])
  })

  it('stop a schema that refers to itself without progress in the value [M-BASE-061]', () => {
    expect(accepts({ $ref: '#' }, 1)).toBe(false)
    expect(
      accepts(
        { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' },
        1,
      ),
    ).toBe(false)
  })

  it('stop at a value that is nested too deeply [M-BASE-061]', () => {
    const deep = JSON.parse(`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`) as unknown

    expect(accepts({ properties: { a: { $ref: '#' } } }, deep)).toBe(false)
    expect(accepts({ uniqueItems: true }, [deep])).toBe(false)
    expect(accepts({}, deep)).toBe(true)
  })

  it('bound the number of references that are followed for one value [M-BASE-061]', () => {
    const schema = { items: { $ref: '#/$defs/n' }, $defs: { n: { type: 'number' } } }
    const limits = { maxReferences: 3 }

    expect(check(schema, [1, 2, 3], limits).issues).toBeUndefined()
    expect(check(schema, [1, 2, 3, 4], limits).issues).toEqual([
      { message: 'The value takes too long to validate' },
    ])
    expect(check(schema, [1, 2, 3], limits).issues).toBeUndefined()
  })

  it('report only the first reason for a long value [M-BASE-061]', () => {
    expect(check({ items: { type: 'string' } }, Array(5000).fill(1)).issues).toEqual([
      { path: ['0'], message: 'Instance type "number" is invalid. Expected "string"' },
    ])
  })

  it('bound the time for comparing the items of a list [M-BASE-061]', () => {
    const list = Array.from({ length: 3000 }, (_, i) => i)
    const schema = { uniqueItems: true }

    expect(accepts(schema, list)).toBe(true)
    expect(accepts(schema, [...list, 0])).toBe(false)
    expect(
      accepts(
        schema,
        Array.from({ length: 100_000 }, (_, i) => i),
      ),
    ).toBe(false)
    expect(
      accepts(
        {},
        Array.from({ length: 100_000 }, (_, i) => i),
      ),
    ).toBe(true)
  })
})
