/**
 * The fields of a form, in each notation that servers use.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema
 */
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { formFields, type FormField } from '../../src/presets/client.ts'
import type { ObjectSchema } from '../../src/index.ts'
import { createServer, text } from '../../src/presets/server.ts'
import { connectInMemory } from '../../src/testing/index.ts'

const only = (schema: object): FormField | undefined =>
  formFields({ type: 'object', properties: { a: { ...schema } } })[0]

describe('formFields', () => {
  test.each([
    ['text', { type: 'string', format: 'email' }, 'text'],
    ['numbers', { type: 'number', minimum: 1 }, 'number'],
    ['whole numbers', { type: 'integer' }, 'integer'],
    ['booleans', { type: 'boolean' }, 'boolean'],
  ])('returns a field for %s [M-ELIC-011] [M-ELIC-012] [M-ELIC-013]', (_title, schema, kind) => {
    expect(only(schema)).toMatchObject({ name: 'a', label: 'a', kind, options: [], schema })
  })

  const plain = [
    { value: 's', label: 's' },
    { value: 'm', label: 'm' },
  ]
  const titled = [
    { value: 's', label: 'Small' },
    { value: 'm', label: 'Medium' },
  ]
  const schemas = [
    { const: 's', title: 'Small' },
    { const: 'm', title: 'Medium' },
  ]
  test.each([
    ['one choice', { type: 'string', enum: ['s', 'm'] }, 'choice', plain],
    ['one choice with titles', { type: 'string', oneOf: schemas }, 'choice', titled],
    [
      'one choice with titles of 2025-06-18',
      { type: 'string', enum: ['s', 'm'], enumNames: ['Small', 'Medium'] },
      'choice',
      titled,
    ],
    ['several', { type: 'array', items: { type: 'string', enum: ['s', 'm'] } }, 'choices', plain],
    ['several with titles', { type: 'array', items: { anyOf: schemas } }, 'choices', titled],
  ])(
    'returns a field for %s [M-ELIC-014] [M-ELIC-015] [M-ELIC-016]',
    (_title, schema, kind, options) => {
      expect(only(schema)).toMatchObject({ kind, options })
    },
  )

  test('returns titles, descriptions and required fields', () => {
    const fields = formFields({
      type: 'object',
      properties: { a: { type: 'string', title: 'A', description: 'First' }, b: {} },
      required: ['a'],
    })
    expect(fields).toMatchObject([
      { name: 'a', label: 'A', description: 'First', required: true },
      { name: 'b', label: 'b', description: undefined, required: false },
    ])
  })

  test.each([['text'], [2], [false], [['s', 'm']]])(
    'returns the default %j [M-ELIC-017]',
    (given) => {
      expect(only({ default: given })?.default).toEqual(given)
    },
  )

  test('leaves out an invalid default, and ignores texts that are not strings', () => {
    const fields = { default: { deep: 1 }, title: 1, description: {}, enum: 'no list' }
    expect(only(fields)).toMatchObject({
      label: 'a',
      kind: 'text',
      options: [],
      default: undefined,
      description: undefined,
    })
    expect(only({ default: [1] })?.default).toBeUndefined()
  })

  test('returns no fields for a schema without properties', () => {
    expect(formFields({ type: 'object' })).toEqual([])
    const odd = JSON.parse('{"type":"object","properties":["a"],"required":5}') as ObjectSchema
    expect(formFields(odd)).toEqual([])
    const odder = JSON.parse(
      '{"type":"object","properties":{"a":5},"required":"a"}',
    ) as ObjectSchema
    expect(formFields(odder)).toMatchObject([{ name: 'a', kind: 'text', required: false }])
  })

  test.each(['2026-07-28', '2025-11-25', '2025-06-18'] as const)(
    'reads the form that a handler sends to a client of %s',
    async (revision) => {
      const server = createServer({ name: 'shop', version: '1.0.0' })
      server.tool('order', {}, async (_args, ctx) => {
        const schema = z.object({
          size: z.enum(['s', 'm']).meta({ title: 'Size' }),
          count: z.number().int().default(1),
        })
        const { content } = await ctx.elicit({ message: 'Which?', schema })
        return text(JSON.stringify(content))
      })
      let asked: FormField[] = []
      await using client = await connectInMemory(server, {
        revision,
        onElicit(params) {
          if (params.mode !== 'url') asked = formFields(params.requestedSchema)
          return { action: 'accept', content: { size: 's', count: 2 } }
        },
      })
      const { content } = await client.callTool('order')
      expect(content).toEqual([{ type: 'text', text: '{"size":"s","count":2}' }])
      expect(asked).toMatchObject([
        { name: 'size', label: 'Size', kind: 'choice', options: plain },
        { name: 'count', kind: 'integer' },
      ])
    },
  )
})
