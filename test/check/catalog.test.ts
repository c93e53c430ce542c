// What `edgewise check` finds in the lists of a server.
import { expect, it } from 'vitest'
import { catalogFindings, checkCatalog } from '../../src/check/catalog.ts'
import type { RuleId } from '../../src/check/rules.ts'
import type { Tool } from '../../src/index.ts'
import { createServer } from '../../src/presets/server.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import { closing } from '../closing.ts'

const good: Tool = {
  name: 'double',
  description: 'Doubles a number',
  inputSchema: { type: 'object', properties: { n: { type: 'number', description: 'It' } } },
  annotations: { readOnlyHint: true },
}
const withProperty = (schema: object) => ({
  type: 'object',
  properties: { n: { description: 'It', ...schema } },
})
const parts = { definitions: { 'a/b c': {}, other: { $anchor: 'part' } } }
const embedded = {
  $id: 'https://example.com/embedded',
  definitions: { part: {} },
  items: { $ref: '#/definitions/part' },
}
const none = { tools: [], resources: [], prompts: [] }

it.each<[RuleId, readonly object[], string]>([
  ['tool-name', [{ ...good, name: 'a b' }], 'a b'],
  ['tool-name', [{ ...good, name: 'a'.repeat(65) }], 'aaa'],
  ['tool-description', [{ ...good, description: ' ' }], 'missing'],
  ['tool-description', [{ ...good, description: 5 }], 'is 5'],
  ['tool-annotations', [{ ...good, annotations: { title: 'A' } }], 'missing'],
  ['tool-schema', [{ ...good, inputSchema: undefined }], 'missing'],
  ['tool-schema', [{ ...good, inputSchema: { type: 'string' } }], '"string"'],
  ['model-schema', [{ ...good, inputSchema: { type: 'object', anyOf: [{}] } }], 'anyOf'],
  [
    'model-schema',
    [
      {
        ...good,
        inputSchema: {
          type: 'object',
          properties: { a: { $ref: '#/$defs/a' }, b: { $ref: 'https://example.com/b' } },
          $defs: { a: {} },
        },
      },
    ],
    'https://example.com/b',
  ],
  [
    'invalid-schema',
    [{ ...good, inputSchema: withProperty({ type: 'text' }) }],
    '"#/properties/n/type" of the input schema is "text", but must be "string", "number", "integer", "boolean", "object", "array", "null", or an array of these',
  ],
  [
    'invalid-schema',
    [{ ...good, inputSchema: withProperty({ type: 'number', minimum: 'zero' }) }],
    '"#/properties/n/minimum" of the input schema is "zero", but must be a number',
  ],
  [
    'invalid-schema',
    [{ ...good, outputSchema: withProperty({ items: [{ type: 'string' }] }) }],
    '"#/properties/n/items" of the output schema is [{"type":"string"}], but must be a schema: an object or a boolean',
  ],
  [
    'invalid-schema',
    [
      {
        ...good,
        inputSchema: {
          type: 'object',
          properties: { properties: { type: 'text', description: 'P' } },
        },
      },
    ],
    '"#/properties/properties/type" of the input schema is "text", but must be "string"',
  ],
  [
    'invalid-schema',
    [{ ...good, inputSchema: { type: 'object', properties: { minimum: 'zero' } } }],
    '"#/properties/minimum" of the input schema is "zero", but must be a schema',
  ],
  [
    'invalid-schema',
    [{ ...good, inputSchema: withProperty({ items: { $ref: '#/$defs/line' } }) }],
    '"#/properties/n/items/$ref" of the input schema is "#/$defs/line", but the schema has no such part',
  ],
  [
    'invalid-schema',
    [{ ...good, outputSchema: withProperty({ anyOf: [{ $ref: '#line' }] }) }],
    '"#/properties/n/anyOf/0/$ref" of the output schema is "#line"',
  ],
  [
    'required-property',
    [{ ...good, inputSchema: { ...good.inputSchema, required: ['n', 'amount'] } }],
    'names "amount"',
  ],
  [
    'required-property',
    [{ ...good, inputSchema: { type: 'object', required: ['amount'] } }],
    'names "amount"',
  ],
  [
    'required-property',
    [
      {
        ...good,
        inputSchema: withProperty({ items: { properties: { id: {} }, required: ['key'] } }),
      },
    ],
    'names "n.[].key"',
  ],
  [
    'parameter-description',
    [{ ...good, inputSchema: { type: 'object', properties: { a: {}, b: { description: 'B' } } } }],
    'of "a"',
  ],
  [
    'parameter-description',
    [
      {
        ...good,
        inputSchema: { type: 'object', properties: { a: { anyOf: [{ type: 'null' }] } } },
      },
    ],
    'of "a"',
  ],
  ['duplicate-name', [good, good, good], 'the tool "double"'],
  ['list-size', Array.from({ length: 101 }, (_, n) => ({ ...good, name: `t${n}` })), '101 tools'],
  ['list-size', [{ ...good, description: 'x'.repeat(100_000) }], '1 tools'],
])('A list of tools that breaks the rule "%s" is found', (rule, tools, message) => {
  const findings = [...catalogFindings({ ...none, tools: tools as readonly Tool[] })]
  expect(findings.map((finding) => finding.rule)).toEqual([rule])
  expect(findings[0]?.message).toContain(message)
})

it.each<[string, object]>([
  ['lists of schemas, in draft 7', { items: [{ type: 'string' }] }],
  ['keywords that do not exist', { nullable: true, 'x-order': 1 }],
  ['a pattern that this platform does not support', { pattern: '(?P<year>[0-9]+)' }],
  ['a required property of another part', { properties: {}, required: ['a'], allOf: [{}] }],
  ['alternatives of required properties', { anyOf: [{ required: ['a'] }, { required: ['b'] }] }],
  ['a dictionary with a required name', { required: ['a'], additionalProperties: {} }],
  ['a reference to itself', { items: { $ref: '#' } }],
  [
    'a reference to a part of it',
    { items: { $ref: '#/properties/n/definitions/a~1b%20c' }, ...parts },
  ],
  ['a reference to an anchor', { items: { $ref: '#part' }, ...parts }],
  ['a reference inside of an embedded schema', embedded],
  ['an example that looks like a reference', { examples: [{ $ref: '#/nothing' }] }],
])('A schema with %s has no findings', (_what, schema) => {
  const $schema = 'http://json-schema.org/draft-07/schema#'
  const tool = { ...good, inputSchema: { $schema, ...withProperty(schema) } } as Tool
  expect([...catalogFindings({ ...none, tools: [tool] })]).toEqual([])
})

it('The description of an alternative describes the parameter', () => {
  const filter = { anyOf: [{ type: 'object', description: 'The filter' }, { type: 'string' }] }
  const sort = { oneOf: [{ $ref: '#/$defs/sort' }, { type: 'null' }] }
  const inputSchema = { type: 'object', properties: { filter, sort }, $defs: { sort: {} } }
  const tool = { ...good, inputSchema } as Tool
  expect([...catalogFindings({ ...none, tools: [tool] })]).toEqual([])
})

it('Schemas of other dialects are not checked', () => {
  const $schema = 'http://json-schema.org/draft-04/schema#'
  const inputSchema = { $schema, ...withProperty({ exclusiveMinimum: true, minimum: 0 }) }
  const tool = { ...good, inputSchema } as Tool
  expect([...catalogFindings({ ...none, tools: [tool] })]).toEqual([])
})

it('Lists of the limits have no findings', () => {
  const tools = Array.from({ length: 100 }, (_, n) => ({ ...good, name: `t${n}` }))
  expect([...catalogFindings({ ...none, tools })]).toEqual([])
})

it('Resources and prompts that appear twice are found', () => {
  const resource = { name: 'a', uri: 'note:///a' }
  const prompt = { name: 'plan' }
  const catalog = { tools: [], resources: [resource, resource], prompts: [prompt, prompt] }
  expect([...catalogFindings(catalog)].map(({ message }) => message)).toEqual([
    'Several entries are the resource "note:///a"',
    'Several entries are the prompt "plan"',
  ])
})

it('A list that takes more than 2 seconds is found', async () => {
  const server = createServer({ name: 'slow', version: '1' })
  server.prompt('plan', {}, () => 'Plan')
  const client = closing(await connectInMemory(server))
  const times = [0, 2_001]
  const findings = checkCatalog(client, undefined, () => times.shift() ?? 0)
  const { value } = await findings.next()
  expect(value).toMatchObject({
    rule: 'list-slow',
    message: 'It took 2001 ms',
    subject: 'prompts/list',
  })
})

it('Required properties that are not described are found up to a limit', () => {
  const required = Array.from({ length: 50 }, (_, index) => `p${index}`)
  const tools = [{ ...good, inputSchema: { ...good.inputSchema, required } }]
  expect([...catalogFindings({ ...none, tools })]).toHaveLength(10)
})

it('Messages and subjects are bounded, because servers choose their length', () => {
  const [found] = catalogFindings({ ...none, tools: [{ ...good, name: 'n'.repeat(5_000) }] })
  expect(found?.message.length).toBeLessThan(3_000)
  expect(found?.subject?.length).toBeLessThan(300)
})
