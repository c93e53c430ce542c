// Which fields the validation errors of servers are about.
import { describe, expect, it } from 'vitest'
import { issuesOf } from '../../examples/playground/page/form/issues.ts'

const names = ['name', 'size', 'guests', 'delivery']
/** The paths of the issues, and their messages. */
const found = (text: string, data?: unknown): [path: string, message: string][] =>
  issuesOf(text, data, names).map(({ path, message }) => [path.join('.'), message])

describe('Validation errors of servers', () => {
  it('of this SDK name their fields', () => {
    const text =
      'Invalid arguments for the tool "order": name: Too small: expected string to have >=1 characters; guests.0.name: Required'
    expect(found(text)).toEqual([
      ['name', 'Too small: expected string to have >=1 characters'],
      ['guests.0.name', 'Required'],
    ])
  })

  it('of the official SDK contain the issues of zod as JSON', () => {
    const issues = [
      { code: 'invalid_type', path: ['guests', 0, 'name'], message: 'Expected string' },
      { code: 'too_small', path: ['size'], message: 'Too small' },
    ]
    const text = `MCP error -32602: Input validation error: Invalid arguments for tool order: ${JSON.stringify(issues, null, 2)}`
    expect(found(text)).toEqual([
      ['guests.0.name', 'Expected string'],
      ['size', 'Too small'],
    ])
  })

  it('of pydantic have a line for the path and a line for the message', () => {
    const text = [
      '2 validation errors for orderArguments',
      'name',
      "  Field required [type=missing, input_value={'size': 1}, input_type=dict]",
      '    For further information visit https://errors.pydantic.dev/2.11/v/missing',
      'guests.0.age',
      '  Input should be a valid integer [type=int_type]',
    ].join('\n')
    expect(found(`Error executing tool order: ${text}`)).toEqual([
      ['name', 'Field required'],
      ['guests.0.age', 'Input should be a valid integer'],
    ])
  })

  it('of ajv have pointers, or name a missing member', () => {
    expect(found('data/size must be equal to one of the allowed values')).toEqual([
      ['size', 'must be equal to one of the allowed values'],
    ])
    const data = [
      {
        keyword: 'required',
        instancePath: '/delivery',
        params: { missingProperty: 'street' },
        message: 'must have a street',
      },
    ]
    expect(found('Invalid params', { errors: data })).toEqual([
      ['delivery.street', 'must have a street'],
    ])
  })

  it('that only quote a name belong to its field', () => {
    expect(found('Missing required argument: "size"')).toEqual([
      ['size', 'Missing required argument: "size"'],
    ])
    expect(found("must have required property 'name'")).toEqual([
      ['name', "must have required property 'name'"],
    ])
  })

  it('in the middle of a sentence are shown as a whole', () => {
    expect(found('Unknown size: "K"')).toEqual([['size', 'Unknown size: "K"']])
    expect(found('- size: Required')).toEqual([['size', 'Required']])
  })

  it.each([
    'The oven is cold. Try again after 18:00',
    'Unknown tool: "name-tag"',
    'Cannot find the file: /size',
    'other: Required',
    '{"broken": [',
  ])('are not found in "%s"', (text) => {
    expect(found(text)).toEqual([])
  })

  it('are found in a long text without delay', () => {
    const start = performance.now()
    found('name '.repeat(100_000))
    found(`${'a.'.repeat(50_000)}: x`)
    expect(performance.now() - start).toBeLessThan(2_000)
  })
})
