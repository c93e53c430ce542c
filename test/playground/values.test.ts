// How results are compared and shown: differences, tables, folds and Markdown.
import { describe, expect, it } from 'vitest'
import { grouped } from '../../examples/playground/page/count.ts'
import { differences, formatPath, isEqual } from '../../examples/playground/page/diff.ts'
import { openDepth } from '../../examples/playground/page/json-depth.ts'
import { withLimits } from '../../examples/playground/page/form/limits.ts'
import { isMarkdown } from '../../examples/playground/page/markdown-signs.ts'
import { tableOf } from '../../examples/playground/page/table-shape.ts'
import { duration } from '../../examples/playground/page/time.ts'

it('counts are grouped by thousands', () => {
  const counts = [0, 999, 1_000, 12_345, 1_234_567]
  expect(counts.map(grouped)).toEqual(['0', '999', '1,000', '12,345', '1,234,567'])
})

it('durations are in the unit that is easiest to read', () => {
  const durations = [0.4, 999, 1_000, 59_900, 60_000, 312_400]
  expect(durations.map(duration)).toEqual([
    '0 ms',
    '999 ms',
    '1.0 s',
    '59.9 s',
    '1 min 0 s',
    '5 min 12 s',
  ])
})

it.each([
  [{ minimum: 1, maximum: 50 }, 'How many. At least 1, at most 50.'],
  [{ exclusiveMinimum: 0 }, 'How many. More than 0.'],
  [{ maxItems: 3 }, 'How many. At most 3 items.'],
  [{ minItems: 1 }, 'How many. At least 1 item.'],
  [{ minLength: 1, maxLength: 9 }, 'How many. At most 9 characters.'],
  [{ maximum: Number.MAX_SAFE_INTEGER }, 'How many.'],
])('limits %j are named beside the field', (schema, text) => {
  expect(withLimits(schema, 'How many.')).toBe(text)
  expect(withLimits(schema, 'How many')).toBe(text === 'How many.' ? 'How many' : text)
  // A description that names them needs no more
  expect(withLimits(schema, text)).toBe(text)
})

describe('Differences', () => {
  /** The differences in one line each. */
  const found = (before: unknown, after: unknown): string[] =>
    differences(before, after).map(({ path, kind }) => `${kind} ${formatPath(path)}`)

  it('name members that were added, removed and changed, at any depth', () => {
    const before = { a: 1, b: { c: [1, 2], 'd e': true }, gone: null }
    const after = { b: { 'd e': false, c: [1, 3] }, a: 1, new: null }
    expect(found(before, after)).toEqual([
      'changed b.c[1]',
      'changed b["d e"]',
      'removed gone',
      'added new',
    ])
  })

  it('do not depend on the order of members, and omit equal values', () => {
    expect(isEqual({ a: 1, b: [{ c: 2, d: 3 }] }, { b: [{ d: 3, c: 2 }], a: 1 })).toBe(true)
    expect(isEqual([], {})).toBe(false)
    expect(isEqual(null, undefined)).toBe(false)
    expect(isEqual({ a: undefined }, {})).toBe(true)
  })

  it('of an array with an inserted or removed item are only this item', () => {
    const items = ['a', 'b', 'c', 'd'].map((name) => ({ name }))
    const shorter = items.filter(({ name }) => name !== 'b')
    expect(found(items, shorter)).toEqual(['removed [1]'])
    expect(found(shorter, items)).toEqual(['added [1]'])
    expect(found(items, [...items.slice(0, 3), { name: 'x' }])).toEqual(['changed [3].name'])
  })

  it('of long arrays are found by index, and are bounded', () => {
    const numbers = Array.from({ length: 5_000 }, (_, index) => index)
    expect(differences(numbers, numbers)).toEqual([])
    expect(differences(numbers, [-1, ...numbers])).toHaveLength(1_000)
  })
})

describe('Tables', () => {
  const rows = [
    { name: 'Oslo', people: 700_000 },
    { name: 'Rome', people: 2_800_000, old: true },
  ]

  it('are arrays of objects with the same members', () => {
    expect(tableOf(rows)).toEqual({
      name: undefined,
      columns: ['name', 'people', 'old'],
      rows,
      others: [],
    })
  })

  it('are found in the only array of an object, next to scalar members', () => {
    expect(tableOf({ total: 2, cities: rows })).toMatchObject({
      name: 'cities',
      others: [['total', 2]],
    })
    expect(tableOf({ page: { next: 2 }, cities: rows })).toBeUndefined()
    expect(tableOf({ cities: rows, others: rows })).toBeUndefined()
  })

  it.each([
    ['texts', ['a', 'b']],
    ['one object', [{ a: 1 }]],
    ['objects without common members', [{ a: 1 }, { b: 1 }, { c: 1 }]],
    ['nested objects', [{ a: {} }, { a: {} }]],
    ['a text', 'text'],
    ['null', null],
  ])('are not made of %s', (_, value) => {
    expect(tableOf(value)).toBeUndefined()
  })
})

describe('Folded JSON', () => {
  it('is unfolded as far as 200 lines are enough', () => {
    expect(openDepth({ a: { b: { c: 1 } } })).toBe(Infinity)
    const wide = Array.from({ length: 90 }, () => ({ a: { b: 1 }, c: [1, 2, 3] }))
    expect(openDepth(wide)).toBe(1)
    expect(openDepth(wide, 300)).toBe(2)
  })

  it('is unfolded at its first level, however long it is', () => {
    expect(openDepth(Array.from({ length: 100_000 }, () => [1]))).toBeGreaterThanOrEqual(1)
  })
})

describe('Markdown', () => {
  it.each([
    ['a heading', '# Title\n\nText'],
    ['a code block', 'Run:\n```sh\nls\n```'],
    ['a table', '| a | b |\n|---|:-:|\n| 1 | 2 |'],
    ['a list with links', '- [one](https://example.com)\n- two'],
  ])('is recognized by %s', (_, text) => {
    expect(isMarkdown(text, '')).toBe(true)
  })

  it('is recognized by its media type', () => {
    expect(isMarkdown('plain', 'text/markdown; charset=utf-8')).toBe(true)
    expect(isMarkdown('# comment\nkey: value', 'application/yaml')).toBe(false)
  })

  it.each(['Hello, Ada.', 'a | b', '1. one', 'use `ls`', 'C# and #tags', '2 * 3 * 4'])(
    'is not what the plain text "%s" is',
    (text) => {
      expect(isMarkdown(text, '')).toBe(false)
    },
  )
})
