import { expect, test } from 'vitest'
import { jsonCopy } from '../../src/transport/json-copy.ts'

const same = Symbol('same')

test.each([
  ['primitives', [1, -1.5, 'é😀\u2028', true, false, null, '']],
  ['what JSON cannot carry', [undefined, () => 1, Symbol('x'), NaN, Infinity, -Infinity]],
  ['members that JSON cannot carry', { a: undefined, b: () => 1, c: same, [same]: 1, d: NaN }],
  ['dates and other things with toJSON', { at: new Date(0), own: { toJSON: () => ({ a: [1] }) } }],
  ['things without members', [new Map([[1, 2]]), new Set([1]), /x/, new Uint8Array([1, 2])]],
  ['names of the prototype', JSON.parse('{"__proto__":{"x":1},"constructor":1,"toString":2}')],
  ['sparse arrays', Object.assign([], { 2: 'c' })],
  ['deep values', { a: [{ b: { c: [[[{}]]] } }] }],
] as [string, unknown][])('%s are copied as by JSON.stringify and JSON.parse', (_name, value) => {
  const expected: unknown = JSON.parse(JSON.stringify(value))
  const copy = jsonCopy(value)
  expect(copy).toStrictEqual(expected)
  expect(JSON.stringify(copy)).toBe(JSON.stringify(value))
})

test('the copy shares nothing with the original', () => {
  const value = { list: [{ a: 1 }] }
  const copy = jsonCopy(value) as typeof value
  value.list[0]!.a = 2
  value.list.push({ a: 3 })
  expect(copy).toEqual({ list: [{ a: 1 }] })
})

test('a name of the prototype is plain data in the copy', () => {
  const copy = jsonCopy(JSON.parse('{"__proto__":{"polluted":true}}')) as Record<string, unknown>
  expect(copy.polluted).toBeUndefined()
  expect(Object.keys(copy)).toEqual(['__proto__'])
})

test('a bigint and a value that contains itself are refused', () => {
  expect(() => jsonCopy({ a: 1n })).toThrow(TypeError)
  const loop: Record<string, unknown> = {}
  loop.loop = loop
  expect(() => jsonCopy(loop)).toThrow(RangeError)
})
