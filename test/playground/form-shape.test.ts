// Which control the playground's forms choose for a schema.
import { describe, expect, it } from 'vitest'
import { resolve } from '../../examples/playground/page/form/resolve.ts'
import { indexOfVariant, shapeOf, type Shape } from '../../examples/playground/page/form/shape.ts'
import type { JsonObject } from '../../src/index.ts'

function shape(schema: JsonObject, root: JsonObject = schema, depth = 1): Shape {
  return shapeOf(resolve(schema, root), depth, root)
}

describe('Form shapes', () => {
  it.each([
    [{ type: 'string' }, { kind: 'text' }],
    [{ type: ['string', 'null'] }, { kind: 'text' }],
    [{ anyOf: [{ type: 'integer' }, { type: 'null' }] }, { kind: 'integer' }],
    [{ allOf: [{ type: 'boolean' }] }, { kind: 'flag' }],
    [{ type: 'object' }, { kind: 'json' }],
    [{ type: 'array' }, { kind: 'json' }],
    [{ type: 'constructor' }, { kind: 'text' }],
    [{}, { kind: 'any' }],
    [{ minimum: 0 }, { kind: 'any' }],
    [{ properties: {} }, { kind: 'json' }],
    [
      { type: 'array', items: { type: 'number' } },
      { kind: 'list', items: { type: 'number' } },
    ],
  ])('%j is shown as %j', (schema, expected) => {
    expect(shape(schema)).toEqual(expected)
  })

  it('offer titled and untitled choices in all forms of the revisions', () => {
    const titled = [
      { value: 's', title: 'Small' },
      { value: 'l', title: 'Large' },
    ]
    const consts = [
      { const: 's', title: 'Small' },
      { const: 'l', title: 'Large' },
    ]
    const names = { type: 'string', enum: ['s', 'l'], enumNames: ['Small', 'Large'] }
    expect(shape(names)).toEqual({ kind: 'choice', options: titled })
    expect(shape({ type: 'string', oneOf: consts })).toEqual({ kind: 'choice', options: titled })
    const several = { type: 'array', items: { anyOf: consts } }
    expect(shape(several)).toEqual({ kind: 'choices', options: titled })
    expect(shape({ enum: [1, 'x'] })).toEqual({
      kind: 'choice',
      options: [
        { value: 1, title: '1' },
        { value: 'x', title: 'x' },
      ],
    })
  })

  it('offer a choice between the members of a union, named by their differences', () => {
    const titles = (schema: JsonObject): unknown => {
      const found = shape(schema)
      return found.kind === 'union' ? found.variants.map(({ title }) => title) : found
    }
    expect(titles({ type: ['string', 'number', 'null'] })).toEqual(['string', 'number'])
    expect(titles({ anyOf: [{ type: 'integer' }, { type: 'string', title: 'Words' }] })).toEqual([
      'integer',
      'Words',
    ])
    const circle = { type: 'object', properties: { kind: { const: 'circle' }, r: {} } }
    const box = { type: 'object', properties: { width: {}, height: {} } }
    expect(titles({ oneOf: [circle, box, { type: 'null' }] })).toEqual(['circle', 'width, height'])
    const union = shape({ oneOf: [circle, box] })
    const variants = union.kind === 'union' ? union.variants : []
    expect(indexOfVariant(variants, { width: 2 })).toBe(1)
    expect(indexOfVariant(variants, { kind: 'circle', r: 2 })).toBe(0)
    expect(indexOfVariant(variants, { kind: 'square', r: 2 })).toBe(-1)
  })

  it('do not take conditions next to properties for a choice', () => {
    const properties = { a: { type: 'string' }, b: { type: 'string' } }
    const anyOf = [{ required: ['a'] }, { required: ['b'] }]
    expect(shape({ type: 'object', properties, anyOf }).kind).toBe('group')
  })

  it('include a recursive schema only once', () => {
    const self = { $ref: '#/$defs/tree' }
    const allOf = Array.from({ length: 1_500 }, () => ({ ...self }))
    const properties = { name: { type: 'string' } }
    const root = { $defs: { tree: { type: 'object', properties, allOf } }, ...self }
    expect(resolve(root, root)).toMatchObject({ type: 'object', properties })
  })

  it('merge the members of allOf', () => {
    const named = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
    const aged = { properties: { age: { type: 'integer' } }, required: ['age'] }
    expect(shape({ allOf: [named, { $ref: '#/$defs/aged' }] }, { $defs: { aged } })).toEqual({
      kind: 'group',
      fields: [
        { name: 'name', schema: { type: 'string' }, required: true },
        { name: 'age', schema: { type: 'integer' }, required: true },
      ],
    })
  })

  it('follow local references and keep their sibling keywords', () => {
    const root = { $defs: { 'a/b': { type: 'string', title: 'Inner' } } }
    expect(resolve({ $ref: '#/$defs/a~1b', title: 'Outer' }, root)).toEqual({
      type: 'string',
      title: 'Outer',
    })
    expect(shape({ $ref: 'https://elsewhere.example/schema' }, root)).toEqual({ kind: 'any' })
    expect(shape({ $ref: '#/$defs/missing' }, root)).toEqual({ kind: 'any' })
  })

  it('end references that go in a circle, and objects that contain themselves', () => {
    const loop = { $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }, { type: 'null' }] } } }
    expect(shape({ $ref: '#/$defs/a' }, loop)).toEqual({ kind: 'any' })
    const tree = { type: 'object', properties: { child: { $ref: '#' } } }
    expect(shape({ $ref: '#' }, tree, 0).kind).toBe('group')
    expect(shape({ $ref: '#' }, tree, 6)).toEqual({ kind: 'json' })
  })

  it('are JSON at the root, which must be an object', () => {
    expect(shape({}, {}, 0)).toEqual({ kind: 'json' })
  })

  it('name choices that are no text, and take references that cannot be read for none', () => {
    const hostile = { toString: 1, valueOf: 1 }
    expect(shape({ enum: [hostile, [1], null, 5, 'text'] })).toEqual({
      kind: 'choice',
      options: [
        { value: hostile, title: '{"toString":1,"valueOf":1}' },
        { value: [1], title: '[1]' },
        { value: null, title: 'null' },
        { value: 5, title: '5' },
        { value: 'text', title: 'text' },
      ],
    })
    expect(shape({ $ref: '#/%' })).toEqual({ kind: 'any' })
  })

  it('have a field for a required member without a property', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a', 'b'] }
    expect(shape(schema)).toEqual({
      kind: 'group',
      fields: [
        { name: 'a', schema: { type: 'string' }, required: true },
        { name: 'b', schema: {}, required: true },
      ],
    })
  })

  it('take names such as __proto__ and constructor for plain data', () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"number"}},"required":["__proto__"]}',
    ) as JsonObject
    expect(shape(schema)).toEqual({
      kind: 'group',
      fields: [
        { name: '__proto__', schema: { type: 'string' }, required: true },
        { name: 'constructor', schema: { type: 'number' }, required: false },
      ],
    })
  })
})
