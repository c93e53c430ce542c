import { describe, expect, test } from 'vitest'
import { SdkError } from '../../src/protocol/errors.ts'
import { encodeHeaderParams, findHeaderParams } from '../../src/protocol/header-params.ts'
import type { JsonObject } from '../../src/protocol/types.ts'
import { memberAt } from '../../src/protocol/validate.ts'

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...more,
})
const region = { type: 'string', 'x-mcp-header': 'Region' }

describe('x-mcp-header annotations', () => {
  test('are found on strings, integers and booleans, nested ones by their path [M-HDR-037] [M-HDR-041] [M-HDR-047]', () => {
    const schema = object({
      region,
      plain: { type: 'number' },
      deep: object({ count: { type: 'integer', 'x-mcp-header': 'X_y-1' } }),
      on: { type: ['boolean', 'null'], 'x-mcp-header': 'Method' },
    })
    expect(findHeaderParams(schema)).toEqual({
      params: [
        { header: 'mcp-param-region', path: ['region'], type: 'string' },
        { header: 'mcp-param-x_y-1', path: ['deep', 'count'], type: 'integer' },
        { header: 'mcp-param-method', path: ['on'], type: 'boolean' },
      ],
    })
  })

  test('are not found on a property that merely has that name', () => {
    const schema = object(
      { 'x-mcp-header': { type: 'string' } },
      { default: { 'x-mcp-header': 1 } },
    )
    expect(findHeaderParams(schema)).toEqual({ params: [] })
  })

  test.each(['', 'My Region', 'a:b', 'é', 'A\r\nEvil: 1', 7, null])(
    'with the name %j is an error [M-HDR-033] [M-HDR-034] [M-HDR-035]',
    (name) => {
      const schema = object({ a: { type: 'string', 'x-mcp-header': name } })
      expect(findHeaderParams(schema).fault).toContain('HTTP token')
    },
  )

  test.each(['number', 'object', 'array', 'null', undefined, ['string', 'integer'], ['null']])(
    'on the type %j is an error [M-HDR-037]',
    (type) => {
      const schema = object({ a: { type, 'x-mcp-header': 'A' } })
      expect(findHeaderParams(schema).fault).toContain('not on a string')
    },
  )

  test('that differ only in case are an error, at any depth [M-HDR-036]', () => {
    const schema = object({
      region,
      a: object({ b: { type: 'string', 'x-mcp-header': 'REGION' } }),
    })
    expect(findHeaderParams(schema)).toEqual({
      params: [],
      fault: '"x-mcp-header": "REGION" is used twice',
    })
  })

  test.each<[string, JsonObject]>([
    ['the root', { ...object({}), 'x-mcp-header': 'A' }],
    ['items', object({ a: { type: 'array', items: region } })],
    ['items as an array', object({ a: { type: 'array', items: [region] } })],
    ['prefixItems', object({ a: { type: 'array', prefixItems: [region] } })],
    ['oneOf', object({ a: { oneOf: [region] } })],
    ['anyOf', object({}, { anyOf: [object({ region })] })],
    ['allOf', object({}, { allOf: [object({ region })] })],
    ['not', object({}, { not: object({ region }) })],
    ['if', object({}, { if: object({ region }) })],
    ['then', object({}, JSON.parse('{"then":{"type":"string","x-mcp-header":"A"}}'))],
    ['else', object({}, { else: object({ region }) })],
    ['$defs', object({ a: { $ref: '#/$defs/a' } }, { $defs: { a: region } })],
    ['definitions', object({}, { definitions: { a: region } })],
    ['patternProperties', object({}, { patternProperties: { '^a': region } })],
    ['additionalProperties', object({}, { additionalProperties: region })],
    ['dependentSchemas', object({}, { dependentSchemas: { a: object({ region }) } })],
    ['contains', object({ a: { type: 'array', contains: region } })],
    ['propertyNames', object({}, { propertyNames: region })],
    ['unevaluatedProperties', object({}, { unevaluatedProperties: region })],
  ])('under %s are an error [M-HDR-040]', (_, schema) => {
    expect(findHeaderParams(schema).fault).toBeDefined()
  })

  test('in a schema too deep to walk are an error, not a crash', () => {
    let schema: JsonObject = region
    for (let depth = 0; depth < 5000; depth++) schema = object({ a: schema })
    expect(findHeaderParams(schema).fault).toBe('The schema is too deep')
  })
})

describe('headers of one call', () => {
  const { params } = findHeaderParams(
    object({
      region,
      count: { type: 'integer', 'x-mcp-header': 'Count' },
      on: { type: 'boolean', 'x-mcp-header': 'On' },
      a: object({ region: { type: 'string', 'x-mcp-header': 'Inner' } }),
    }),
  )

  test('repeat the values at their exact paths [M-HDR-048] [M-HDR-051] [M-HDR-052]', () => {
    const args = { region: '', count: -7, on: true, a: { region: '日本語' }, b: { region: 'no' } }
    expect(encodeHeaderParams(params, args)).toEqual({
      'mcp-param-region': '',
      'mcp-param-count': '-7',
      'mcp-param-on': 'true',
      'mcp-param-inner': '=?base64?5pel5pys6Kqe?=',
    })
  })

  test('leave out absent and null values [M-HDR-049] [M-HDR-050]', () => {
    expect(encodeHeaderParams(params, { region: null, a: null })).toEqual({})
  })

  test('refuse an integer that JSON does not carry exactly [M-HDR-039]', () => {
    expect(() => encodeHeaderParams(params, { count: 2 ** 53 })).toThrow(SdkError)
  })

  test('take names such as __proto__ as data', () => {
    expect(memberAt({}, ['__proto__', 'toString'])).toBeUndefined()
    expect(memberAt(JSON.parse('{"__proto__":{"a":1}}'), ['__proto__', 'a'])).toBe(1)
  })
})
