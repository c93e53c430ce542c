/**
 * Limits the work of matching all patterns of a schema with one value.
 *
 * @see https://json-schema.org/draft/2020-12/json-schema-core#section-6.4
 */
import type { BoundedPattern } from './bounded-pattern.ts'
import type { CountStep } from './pattern-matchers.ts'

/** How many steps each character of a value allows, in addition to `maxSteps`. */
const STEPS_PER_CHARACTER = 10

/**
 * Matches every pattern with every string and member name of a value, before the value is validated. This is
 * necessary because the validator itself uses the platform's expressions, which cannot be interrupted. As a
 * result, a value may be rejected because of a string to which the schema applies no pattern.
 *
 * @param maxSteps The maximum number of steps for the value, without the steps that its characters allow.
 * @param createError Creates the error that is thrown when no step is left.
 */
export function requireBoundedWork(
  patterns: readonly BoundedPattern[],
  value: unknown,
  maxSteps: number,
  createError: () => Error,
): void {
  const texts = new Set<string>()
  collectTexts(value, texts)
  let remaining = maxSteps
  for (const text of texts) remaining += STEPS_PER_CHARACTER * text.length
  const countStep: CountStep = () => {
    if (remaining-- <= 0) throw createError()
  }
  for (const text of texts) {
    for (const pattern of patterns) {
      countStep()
      pattern.test(text, countStep)
    }
  }
}

function collectTexts(value: unknown, texts: Set<string>): void {
  if (typeof value === 'string') texts.add(value)
  if (typeof value !== 'object' || value === null) return
  for (const [name, member] of Object.entries(value)) {
    if (!Array.isArray(value)) texts.add(name)
    collectTexts(member, texts)
  }
}
