/**
 * The matchers that a pattern consists of. They try the same alternatives in the same order as a backtracking
 * engine, and count their steps. Untried alternatives are stored in a list, because recursion would exhaust the
 * stack on a long text. Single characters are matched by the platform's engine, so that classes and Unicode
 * properties have the same meaning.
 *
 * @see https://tc39.es/ecma262/multipage/text-processing.html#sec-compilesubpattern
 */

/** Counts one step. Throws when no step is left. */
export type CountStep = () => void

/** One attempt to match a text. */
export interface MatchAttempt {
  readonly text: string
  readonly countStep: CountStep
  /** The alternatives that were not tried yet; the last is tried first. */
  readonly untried: [next: Next, at: number][]
}

/** Matches the rest of the pattern. */
type Next = (at: number) => void
/**
 * Matches a part of the pattern at an index: calls `next` with the index after the match, and adds other
 * ways to match to `untried`.
 */
export type Matcher = (attempt: MatchAttempt, at: number, next: Next) => void
/** Whether a code point is in a character class. */
type CharTest = (char: number) => boolean

/** A part of a pattern that a quantifier can follow. */
export interface Atom {
  /** Set if the atom matches a single character. */
  readonly char?: CharTest
  readonly match: Matcher
}

/** The maximum number of untried alternatives, to limit memory. */
const MAX_UNTRIED = 1_000_000

/** Tries all alternatives at an index until one matches. */
export function matchesAt(match: Matcher, { text, countStep }: MatchAttempt, at: number): boolean {
  let isFound = false
  const untried: MatchAttempt['untried'] = []
  const onMatch = (): void => {
    isFound = true
  }
  match({ text, countStep, untried }, at, onMatch)
  for (let alternative = untried.pop(); alternative && !isFound; alternative = untried.pop()) {
    if (untried.length > MAX_UNTRIED) throw new RangeError('Too many alternatives are left')
    const [next, index] = alternative
    next(index)
  }
  return isFound
}

/** How often a part of a pattern is repeated. */
export interface Repeat {
  readonly min: number
  readonly max: number
  readonly isGreedy: boolean
}

/**
 * Repeats a character. A greedy repetition first takes as many characters as possible, and one less with each
 * further attempt. A lazy repetition first takes as few characters as possible, and one more with each further
 * attempt. Only the next attempt is in the list of untried alternatives.
 */
export function repeatChar(char: CharTest, { min, max, isGreedy }: Repeat): Matcher {
  return ({ text, countStep, untried }, start, next) => {
    /** Returns the index after one more character. Undefined if no other character may be taken. */
    const advance = (at: number, count: number): number | undefined => {
      countStep()
      const code = text.codePointAt(at)
      return count < max && code !== undefined && char(code) ? at + widthOf(code) : undefined
    }
    /** Returns the index before the last character. Undefined if no character may be given back. */
    const retreat = (at: number): number | undefined => {
      if (count <= min) return undefined
      return at - (at - 2 >= start ? widthOf(text.codePointAt(at - 2) ?? 0) : 1)
    }
    let count = 0
    let end = start
    while (isGreedy || count < min) {
      const advanced = advance(end, count)
      if (advanced === undefined) break
      end = advanced
      count++
    }
    if (count < min) return
    const tryOtherCount = (at: number): void => {
      const otherEnd = isGreedy ? retreat(at) : advance(at, count)
      if (otherEnd === undefined) return
      count += isGreedy ? -1 : 1
      untried.push([tryOtherCount, otherEnd])
      next(otherEnd)
    }
    untried.push([tryOtherCount, end])
    next(end)
  }
}

/** Repeats a group. An empty match ends the repetition once `min` is reached. */
export function repeatAny(match: Matcher, { min, max, isGreedy }: Repeat): Matcher {
  const repeat = (attempt: MatchAttempt, at: number, next: Next, count: number): void => {
    attempt.countStep()
    const repeatOnce: Next = (from) => {
      if (count >= max) return
      match(attempt, from, (end) => {
        if (end !== from || count < min) {
          attempt.untried.push([(to) => repeat(attempt, to, next, count + 1), end])
        }
      })
    }
    if (count < min) return repeatOnce(at)
    attempt.untried.push([isGreedy ? next : repeatOnce, at])
    if (isGreedy) repeatOnce(at)
    else next(at)
  }
  return (attempt, at, next) => repeat(attempt, at, next, 0)
}

/** An atom that consumes nothing, such as `^` or a lookahead. */
export function assertion(isTrue: (attempt: MatchAttempt, at: number) => boolean): Atom {
  return {
    match(attempt, at, next) {
      attempt.countStep()
      if (isTrue(attempt, at)) next(at)
    },
  }
}

/** A test for one certain character. */
export function literal(source: string): CharTest {
  const code = source.codePointAt(0)
  return (char) => char === code
}

/** Tests characters with the platform's engine, and caches the results. */
export function characterClass(source: string): CharTest {
  const pattern = new RegExp(`^${source}$`, 'u')
  const results = new Map<number, boolean>()
  return (char) => {
    let result = results.get(char)
    if (result === undefined) {
      result = pattern.test(String.fromCodePoint(char))
      results.set(char, result)
    }
    return result
  }
}

/** The number of UTF-16 units of a code point. */
export function widthOf(code: number): 1 | 2 {
  return code > 0xffff ? 2 : 1
}

/** Whether an index is at a word boundary: exactly one of the characters beside it belongs to a word. */
export function isBoundary(text: string, at: number): boolean {
  return /\w/.test(text[at - 1] ?? '') !== /\w/.test(text[at] ?? '')
}
