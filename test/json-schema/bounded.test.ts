/** Untrusted schemas, which must not block the process that validates with them. */
import { describe, expect, test } from 'vitest'
import type { JsonSchemaLimits } from '../../src/json-schema/compile.ts'
import type { JsonObject } from '../../src/protocol/types.ts'
import { boundedPattern } from '../../src/json-schema/bounded-pattern.ts'
import { jsonSchema, outputValidator } from '../../src/json-schema/index.ts'
import type { SchemaResult } from '../../src/protocol/standard-schema.ts'

const TOO_LONG = 'The value takes too long to validate'

function withPattern(pattern: string): JsonObject {
  return { type: 'object', properties: { a: { type: 'string', pattern } } }
}

const catastrophic: [pattern: string, text: string][] = [
  ['^(a+)+$', `${'a'.repeat(60)}!`],
  ['^(a|a)*$', `${'a'.repeat(60)}!`],
  ['(x+x+)+y', 'x'.repeat(80)],
  ['^(?:a?){60}a{60}$', 'a'.repeat(50)],
  ['^(?=(a+)+$)', `${'a'.repeat(60)}!`],
  ['[a-z]+$', `${'a'.repeat(200_000)}!`],
  ['.*.*.*=', 'x'.repeat(5_000)],
  ['^([a-z]*,?)*$', `${'a'.repeat(100_000)}!`],
  // Seconds of work for the platform though nothing in it is of variable length
  [`${'a{50}'.repeat(1_000)}b`, 'a'.repeat(50_000)],
]

describe("a server's output schema", () => {
  test.each(catastrophic)(
    'with the catastrophic pattern %s refuses the value, and does not stop the client [S030]',
    (pattern, text) => {
      expect(outputValidator()(withPattern(pattern), { a: text })).toBe(TOO_LONG)
      // Names of members are matched too
      const names = { patternProperties: { [pattern]: true } }
      expect(outputValidator({ maxPatternSteps: 100_000 })(names, { [text]: 1 })).toBe(TOO_LONG)
    },
  )

  // Those that generators write for addresses, dates, versions
  test.each([
    [
      "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$",
      'ada.lovelace@mail.example.org',
    ],
    ['^[A-Za-z0-9+/]*={0,2}$', 'QUJD'.repeat(250_000)],
    ['^([a-z0-9]+-)*[a-z0-9]+$', `${'abc-def-'.repeat(50)}x`],
    // Long texts, for which the stack would be too short
    ['^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==)?$', 'QUJD'.repeat(50_000)],
    ['^(?:\\w+[ .]??)+$', 'word '.repeat(20_000)],
    [
      '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d+)?)?(?:Z|[+-]\\d{2}:\\d{2})$',
      '2026-07-28T10:00:00.5Z',
    ],
    ['\\p{L}+ \\u{1f600}', 'Größe 😀'],
  ])('with the harmless pattern %s is checked as ever [S030]', (pattern, text) => {
    const validate = outputValidator()
    expect(validate(withPattern(pattern), { a: text })).toBeUndefined()
    expect(validate(withPattern(pattern), { a: '!' })).toContain('does not match')
  })

  test.each(['^(a)\\1$', '(?<=a)b', '^(?<x>a)\\k<x>$'])(
    'with the pattern %s, which cannot be bounded, is refused unless patterns are trusted [S030]',
    (pattern) => {
      const value = { a: pattern.includes('<=') ? 'ab' : 'aa' }
      expect(outputValidator()(withPattern(pattern), value)).toContain('cannot be bounded')
      const trusting = outputValidator({ patterns: 'trusted' })
      expect(trusting(withPattern(pattern), value)).toBeUndefined()
    },
  )

  test.each<[string, JsonObject, unknown, JsonSchemaLimits?]>([
    [
      'many subschemas for each of many items',
      { items: { allOf: Array.from({ length: 5_000 }, () => ({ minimum: 0 })) } },
      Array.from({ length: 5_000 }, (_, i) => i),
    ],
    [
      'a long list of values for each of many items',
      { items: { enum: Array.from({ length: 50_000 }, (_, i) => `value ${i}`) } },
      Array.from({ length: 5_000 }, () => 'value 49999'),
    ],
    [
      'many required members for each of many items',
      { items: { type: 'object', required: Array.from({ length: 50_000 }, () => 'a') } },
      Array.from({ length: 5_000 }, () => ({ a: 1 })),
    ],
    [
      'subschemas that allow everything for each of many members',
      { allOf: Array.from({ length: 90 }, () => ({ additionalProperties: true })) },
      Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`member ${i}`, 0])),
      { maxApplications: 100_000 },
    ],
    [
      'many patterns for each of many names',
      {
        patternProperties: Object.fromEntries(
          Array.from({ length: 1_000 }, (_, i) => [`^x${i}$`, true]),
        ),
      },
      Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`member ${i}`, 0])),
    ],
  ])('with %s refuses the value [S030]', (_, schema, value, limits = {}) => {
    expect(outputValidator(limits)(schema, value)).toBe(TOO_LONG)
  })

  test.each<[string, JsonObject, unknown]>([
    ['a long text', { maxLength: 1e9 }, 'a'.repeat(1_000_000)],
    ['a long list', { uniqueItems: true }, Array.from({ length: 2_000 }, (_, i) => i)],
  ])('that measures %s very often refuses the value in time [S030]', (_, schema, value) => {
    const often = { allOf: Array.from({ length: 9_000 }, () => schema) }
    expect(outputValidator({ timeoutMs: 50 })(often, value)).toBe(TOO_LONG)
  })
})

describe('a schema that is trusted', () => {
  test.each<[JsonSchemaLimits, boolean]>([
    [{}, true],
    [{ patterns: 'bounded' }, false],
    [{ patterns: 'bounded', maxPatternSteps: 100_000 }, true],
  ])('runs patterns with the limits that it is given: %j [S030]', (limits, isValid) => {
    const schema = jsonSchema(withPattern('^(a?){12}a{12}$'), { maxPatternSteps: 100, ...limits })
    const { issues } = schema['~standard'].validate({ a: 'a'.repeat(12) }) as SchemaResult<unknown>
    expect(issues === undefined).toBe(isValid)
  })
})

describe('a bounded pattern', () => {
  const atoms = ['a', 'b', '.', '[ab]', '[^a]', '\\d', '\\w', '\\.', '(a|b)', '(?:ab)', '(?<n>a)']
  const more = ['(?=a)', '(?!b)', '^', '$', '\\b', 'é', '\u{1f600}', '\\u{1f600}', '\\ud83d\\ude00']
  const rest = ['\\p{L}', '[\\]x]', '(a|ab)', '(a*)', '(a?b*)', '\\x61', '\\u0061', '(|a)', '-']
  const quantifiers = [
    '',
    '',
    '',
    '*',
    '+',
    '?',
    '{2}',
    '{1,}',
    '{0,2}',
    '*?',
    '+?',
    '??',
    '{1,2}?',
  ]
  const characters = ['a', 'b', '1', '.', 'é', '\u{1f600}', ' ', 'x', ']', '-', '\n']

  test('matches like the platform [S030]', () => {
    // A generator of numbers that is the same in each run
    let state = 1
    const pick = (list: readonly string[]): string => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
      return list[(state >>> 8) % list.length] ?? ''
    }
    const times = (count: number, make: () => string): string =>
      Array.from({ length: count }, make).join('')
    const all = [...atoms, ...more, ...rest]
    const differences: [source: string, text: string][] = []
    let compared = 0
    for (let round = 0; round < 10_000; round++) {
      const source = times(1 + (round % 5), () => {
        const atom = pick(all)
        const isPlace = /^(?:\^|\$|\\b|\(\?[=!].*)$/.test(atom)
        return atom + (isPlace ? '' : pick(quantifiers)) + pick(['', '', '', '', '', '', '|'])
      })
      let native: RegExp
      try {
        native = new RegExp(source, 'u')
      } catch {
        continue // The same name twice
      }
      const bounded = boundedPattern(source)
      const text = times(round % 8, () => pick(characters))
      const matches = bounded?.test(text, () => {})
      if (matches !== native.test(text)) differences.push([source, text])
      compared++
    }
    expect(differences).toEqual([])
    expect(compared).toBeGreaterThan(8_000)
  })
})
