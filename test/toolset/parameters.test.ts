// The schemas of a toolset in the form that the large model APIs accept, for any listed schema.
import { Validator } from '@cfworker/json-schema'
import { describe, expect, test } from 'vitest'
import type { ToolFunction } from '../../src/toolset/functions.ts'
import { connect } from '../../src/presets/client.ts'
import type { JsonObject } from '../../src/index.ts'
import { scriptedPeer } from '../../src/testing/index.ts'
import { toolFunctions } from '../../src/toolset/index.ts'
import { closing } from '../closing.ts'

const calls: JsonObject[] = []

/** The function that a toolset makes of a tool with this schema. */
async function functionOf(inputSchema: unknown): Promise<ToolFunction> {
  const results: Record<string, object> = {
    'server/discover': { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
    'tools/list': { tools: [{ name: 'tool', inputSchema }] },
    'tools/call': { content: [] },
  }
  const peer = scriptedPeer(({ id, method = '', params }) => {
    if (method === 'tools/call')
      calls.push((params as JsonObject | undefined)?.arguments as JsonObject)
    return { jsonrpc: '2.0', id, result: { resultType: 'complete', ...results[method] } }
  })
  const [only] = await toolFunctions(closing(await connect(peer.transport)))
  if (!only) throw new Error('No function')
  return only
}

const refused = ['$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'enum', 'const']

/** What each of the APIs demands of a schema, all in one. */
function expectAccepted(schema: JsonObject): void {
  expect(schema).toMatchObject({ type: 'object', properties: {} })
  expect(Object.keys(schema).filter((keyword) => refused.includes(keyword))).toEqual([])
  for (const name of Object.keys(schema.properties as object)) {
    expect(name).toMatch(/^[a-zA-Z0-9_.-]{1,64}$/)
  }
}

/** Whether a schema allows a value. */
function allows(schema: JsonObject, value: unknown): boolean {
  return new Validator(schema, '2020-12').validate(value).valid
}

const kinds = {
  circle: { properties: { kind: { const: 'circle' }, r: { type: 'number' } } },
  square: { properties: { kind: { const: 'square' }, side: { type: 'number' } } },
}
const shape = [
  { ...kinds.circle, type: 'object', required: ['kind', 'r'] },
  { ...kinds.square, type: 'object', required: ['kind', 'side'] },
]

const roots: [string, JsonObject, unknown[]][] = [
  ['no properties', { type: 'object', additionalProperties: false }, [{}]],
  ['oneOf', { type: 'object', oneOf: shape }, [{ kind: 'circle', r: 1 }]],
  [
    'anyOf that only requires',
    {
      type: 'object',
      properties: { id: { type: 'string' }, path: { type: 'string' } },
      anyOf: [{ required: ['id'] }, { required: ['path'] }],
    },
    [{ id: 'a' }, { path: 'b' }],
  ],
  [
    'allOf with references',
    {
      type: 'object',
      allOf: [{ $ref: '#/$defs/base' }, { properties: { b: { type: 'number' } } }],
      $defs: { base: { properties: { a: { type: 'string' } }, required: ['a'] } },
    },
    [{ a: 'x', b: 1 }],
  ],
  [
    'a reference',
    {
      type: 'object',
      $ref: '#/definitions/In~1put',
      definitions: { 'In/put': { properties: { a: { type: 'string' } }, required: ['a'] } },
    },
    [{ a: 'x' }],
  ],
  [
    'if, then and else',
    {
      type: 'object',
      properties: { all: { type: 'boolean' } },
      if: { properties: { all: { const: true } } },
      then: { properties: { limit: { type: 'number' } } },
      else: { properties: { id: { type: 'string' } }, required: ['id'] },
    },
    [
      { all: true, limit: 1 },
      { all: false, id: 'x' },
    ],
  ],
  ['not', { type: 'object', not: { required: ['a'] } }, [{ b: 1 }]],
  ['a reference to itself', { type: 'object', $ref: '#' }, [{}]],
  ['a reference to nowhere', { type: 'object', $ref: '#/$defs/none' }, [{}]],
  ['a reference elsewhere', { type: 'object', $ref: 'https://example.com/x' }, [{}]],
]

describe('a schema of a toolset', () => {
  test.each(roots)(
    'has properties and no combinator where the root has %s [C036] [C037]',
    async (_name, schema, valid) => {
      const { parameters } = await functionOf(schema)
      expectAccepted(parameters)
      for (const value of valid) expect(allows(parameters, value)).toBe(true)
    },
  )

  test('requires the properties common to all alternatives, and offers all others [C037]', async () => {
    const { parameters } = await functionOf({ type: 'object', oneOf: shape })
    expect(parameters).toEqual({
      type: 'object',
      properties: {
        kind: { anyOf: [{ const: 'circle' }, { const: 'square' }] },
        r: { type: 'number' },
        side: { type: 'number' },
      },
      required: ['kind'],
    })
  })

  test('that needs no change is passed on as the same object [C037]', async () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        any: { anyOf: [{ type: 'string' }, { type: 'null' }], default: { type: 'object' } },
        self: { $ref: '#' },
        __proto__x: { enum: [{ type: 'array' }] },
      },
      required: ['any'],
      additionalProperties: false,
    }
    expect((await functionOf(schema)).parameters).toEqual(schema)
  })

  test('has items in every array and properties in every object [C037]', async () => {
    const { parameters } = await functionOf({
      type: 'object',
      properties: {
        type: { type: ['array', 'null'] },
        pair: { type: 'array', prefixItems: [{ type: 'object' }] },
        map: { type: 'object', additionalProperties: { type: 'array' } },
        items: { type: 'string' },
      },
    })
    expect(parameters.properties).toEqual({
      type: { type: ['array', 'null'], items: {} },
      pair: { type: 'array', prefixItems: [{ type: 'object', properties: {} }] },
      map: { type: 'object', properties: {}, additionalProperties: { type: 'array', items: {} } },
      items: { type: 'string' },
    })
  })

  test('keeps references into a root that was flattened [C037]', async () => {
    const { parameters } = await functionOf({
      type: 'object',
      anyOf: [
        { properties: { a: { type: 'object', properties: { n: { type: 'number' } } } } },
        { properties: { b: { $ref: '#/anyOf/0/properties/a' }, next: { $ref: '#' } } },
      ],
    })
    expectAccepted(parameters)
    expect(allows(parameters, { b: { n: 1 }, next: { b: { n: 2 } } })).toBe(true)
    expect(allows(parameters, { b: { n: 'x' } })).toBe(false)
  })

  test('has other names for properties that no API takes, and calls with the own ones [C037]', async () => {
    const long = 'x'.repeat(70)
    const { parameters, call } = await functionOf({
      type: 'object',
      properties: {
        $top: { type: 'number' },
        _top: { type: 'number' },
        'ids[]': { type: 'array' },
        [long]: { type: 'string' },
        children: { type: 'array', items: { $ref: '#' } },
      },
      required: ['$top', '_top'],
    })
    expectAccepted(parameters)
    const names = Object.keys(parameters.properties ?? {})
    expect(names).toHaveLength(5)
    expect(names).toContain('_top')
    expect(parameters.required).toEqual([names[0], '_top'])
    const [top = '', , ids = '', cut = ''] = names
    await call({ [top]: 1, _top: 2, [ids]: [], [cut]: 'y', other: 0 })
    expect(calls.at(-1)).toEqual({ $top: 1, _top: 2, 'ids[]': [], [long]: 'y', other: 0 })
    // What is below keeps its names
    expect(allows(parameters, { [top]: 1, _top: 2, children: [{ $top: 1, _top: 2 }] })).toBe(true)
  })

  test('is made in a bounded time, however references multiply [C037]', async () => {
    const $defs: Record<string, unknown> = { d0: { properties: { leaf: { type: 'string' } } } }
    for (let n = 1; n <= 40; n++) {
      const $ref = `#/$defs/d${n - 1}`
      $defs[`d${n}`] = { anyOf: [{ $ref }, { allOf: [{ $ref }], title: 'other' }] }
    }
    const { parameters } = await functionOf({ type: 'object', $ref: '#/$defs/d40', $defs })
    expectAccepted(parameters)
  })

  test.each([undefined, null, true, 'object', []])(
    'has no properties if the server lists %j as a schema [C037]',
    async (schema) => {
      const { parameters } = await functionOf(schema)
      expect(parameters).toEqual({ type: 'object', properties: {} })
    },
  )

  test.each([
    ['properties', (from: number) => ({ properties: numbered(from) })],
    ['required names', (from: number) => ({ required: Object.keys(numbered(from)) })],
  ])('merges a bounded number of %s from combinators [C037]', async (_, part) => {
    const parts = Array.from({ length: 12 }, (_part, n) => part(n * 1_000))
    for (const combinator of ['allOf', 'anyOf', 'oneOf']) {
      const { parameters } = await functionOf({ type: 'object', [combinator]: parts })
      expect(Object.keys(parameters.properties ?? {}).length).toBeLessThan(12_000)
      expect(parameters.required?.length ?? 0).toBeLessThan(12_000)
    }
  })
})

/** A thousand properties. */
function numbered(from: number): Record<string, object> {
  return Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`p${from + n}`, {}]))
}
