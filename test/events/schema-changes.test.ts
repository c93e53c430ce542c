import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { breakingChanges } from '../../src/events/schema-changes.ts'
import { jsonSchemaOf } from '../../src/protocol/standard-schema.ts'
import type { JsonObject } from '../../src/index.ts'

const ANY = { type: 'object' }
const base = z.object({
  id: z.string(),
  state: z.enum(['open', 'paid']),
  note: z.string().optional(),
  lines: z.array(z.object({ price: z.number() })),
})
const schemaOf = (schema: z.ZodObject, side: 'input' | 'output'): JsonObject =>
  jsonSchemaOf(schema, 'The schema', side)

const payload = (after: z.ZodObject) =>
  breakingChanges(
    { inputSchema: ANY, payloadSchema: schemaOf(base, 'output') },
    { inputSchema: ANY, payloadSchema: schemaOf(after, 'output') },
  )
const input = (after: z.ZodObject, before = base) =>
  breakingChanges(
    { payloadSchema: ANY, inputSchema: schemaOf(before, 'input') },
    { payloadSchema: ANY, inputSchema: schemaOf(after, 'input') },
  )

describe('breakingChanges', () => {
  const renamed = base.omit({ id: true }).extend({ key: z.string() })
  test.each([
    ['a member that was removed', base.omit({ note: true }), 'note'],
    ['a member that was renamed', renamed, 'id'],
    ['a member of another type', base.extend({ id: z.number() }), 'id'],
    ['an enum with fewer values', base.extend({ state: z.enum(['open']) }), 'state'],
    ['a member that is no longer always present', base.extend({ id: z.string().optional() }), 'id'],
    [
      'a member of a list',
      base.extend({ lines: z.array(z.object({ price: z.string() })) }),
      'lines.price',
    ],
  ])('finds %s of a payload [E-EVT-028]', (_, after, path) => {
    expect(payload(after)).toMatchObject([{ feature: 'payloadSchema', path }])
  })

  test.each([
    ['a member that is now required', base.extend({ note: z.string() }), 'note'],
    ['a new required member', base.extend({ more: z.string() }), 'more'],
    ['a longer minimum', base.extend({ id: z.string().min(3) }), 'id'],
    ['a lower maximum', base.extend({ id: z.string().max(3) }), 'id'],
    ['a pattern', base.extend({ id: z.string().regex(/^in_/) }), 'id'],
    ['an enum in place of a string', base.extend({ id: z.enum(['a']) }), 'id'],
    ['an enum with fewer values', base.extend({ state: z.enum(['paid']) }), 'state'],
    ['a member of another type', base.extend({ id: z.number() }), 'id'],
    ['a member that was removed', base.omit({ note: true }), 'note'],
    ['members that are no longer allowed', base.strict(), ''],
  ])('finds %s of the input [E-EVT-028]', (_, after, path) => {
    expect(input(after)).toEqual(
      expect.arrayContaining([expect.objectContaining({ feature: 'inputSchema', path })]),
    )
  })

  test('accepts schemas that only grow [E-EVT-028] [E-EVT-036]', () => {
    const grown = base.extend({
      state: z.enum(['open', 'paid', 'void']),
      more: z.string().optional(),
      lines: z.array(z.object({ price: z.number(), tax: z.number().optional() })),
    })
    expect(payload(base)).toEqual([])
    expect(payload(grown)).toEqual([])
    expect(input(grown)).toEqual([])
    expect(input(base, base.extend({ id: z.string().min(3) }))).toEqual([])
  })

  test('advises to offer a type with a new name beside the old one [E-EVT-029]', () => {
    const [change] = payload(base.extend({ id: z.number() }))
    expect(change?.message).toBe(
      '"id" of "payloadSchema" has another type: offer a type with a new name beside this one',
    )
  })
})
