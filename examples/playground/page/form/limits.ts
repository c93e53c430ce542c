/**
 * The limits of a value, in words.
 *
 * @see https://json-schema.org/draft/2020-12/json-schema-validation#name-validation-keywords-for-num
 */
import type { JsonObject } from 'edgewise/browser'

/** Adds the limits of a schema to the description of its field, unless the description names them. */
export function withLimits(
  schema: JsonObject,
  description: string | undefined,
): string | undefined {
  const limits = [
    limitOf(schema['minimum'], schema['maximum'], ''),
    limitOf(schema['exclusiveMinimum'], schema['exclusiveMaximum'], '', EXCLUSIVE),
    // That a required text is not empty needs no words
    limitOf(
      Number(schema['minLength']) > 1 && schema['minLength'],
      schema['maxLength'],
      'character',
    ),
    limitOf(schema['minItems'], schema['maxItems'], 'item'),
  ].filter((limit) => !isNamed(limit, description))
  const first = limits.length > 0 ? asSentence(description) : description
  const texts = [first, ...limits].filter(Boolean)
  return texts.length > 0 ? texts.join(' ') : undefined
}

/** Adds a full stop where there is none. */
function asSentence(text: string | undefined): string | undefined {
  return text && !/[.!?:…。！？]\s*$/.test(text) ? `${text.trimEnd()}.` : text
}

const INCLUSIVE = { least: 'At least', most: 'At most' }
const EXCLUSIVE = { least: 'More than', most: 'Less than' }

function limitOf(least: unknown, most: unknown, unit: string, words = INCLUSIVE): string {
  const texts = [
    isLimit(least) ? `${words.least} ${least}` : '',
    isLimit(most) ? `${words.most} ${most}` : '',
  ].filter(Boolean)
  const [first = '', second = ''] = texts
  if (first === '') return ''
  const limits = second ? `${first}, ${second.toLowerCase()}` : first
  if (unit === '') return `${limits}.`
  const last = isLimit(most) ? most : least
  return `${limits} ${unit}${last === 1 ? '' : 's'}.`
}

/** Whether a value limits anything. The bounds of the safe integers, which zod adds, do not. */
function isLimit(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER
}

function numbersIn(text: string): readonly string[] {
  return text.match(/\d+(?:\.\d+)*/g) ?? []
}

/** Whether a description contains all numbers of a limit. */
function isNamed(limit: string, description = ''): boolean {
  const numbers = numbersIn(description)
  return numbersIn(limit).every((each) => numbers.includes(each))
}
