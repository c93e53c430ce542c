/**
 * Regular expressions that count their steps, so that catastrophic backtracking can be stopped.
 * Platforms have no such limit.
 *
 * The matcher tries the same alternatives in the same order as a backtracking engine. It stores untried
 * alternatives in a list, because recursion would exhaust the stack on a long text. Single characters
 * are matched by the platform's engine, so that classes and Unicode properties have the same meaning.
 *
 * @see https://tc39.es/ecma262/multipage/text-processing.html#sec-pattern
 */

/** Counts one step. Throws when no step is left. */
export type CountStep = () => void

/** A pattern whose matching can be stopped. */
export interface BoundedPattern {
  /** Whether matching takes linear time, so that no steps have to be counted. */
  readonly isLinear: boolean
  /** Whether the pattern matches anywhere in a text. Throws what `countStep` throws. */
  test(text: string, countStep: CountStep): boolean
}

/** One attempt to match a text. */
interface MatchAttempt {
  readonly text: string
  readonly countStep: CountStep
  /** The alternatives that were not tried yet; the last is tried first. */
  readonly untried: [next: Next, at: number][]
}

/** Matches the rest of the pattern. */
type Next = (at: number) => void
/**
 * Matches a part of the pattern at an index: calls `next` with the index behind it, and adds other
 * ways to match to `untried`.
 */
type Matcher = (run: MatchAttempt, at: number, next: Next) => void
/** Whether a code point is in a character class. */
type CharTest = (char: number) => boolean

/** A part of a pattern that a quantifier can follow. */
interface Atom {
  /** Set if it matches a single character. */
  readonly char?: CharTest
  readonly match: Matcher
}

/** A pattern up to this length costs little at each index of a text. */
const SHORT_LENGTH = 50
/** The maximum number of untried alternatives, to limit memory. */
const MAX_UNTRIED = 1_000_000

/**
 * Parses a valid pattern of the `u` flag.
 *
 * @returns `undefined` for a pattern that cannot be bounded: a pattern with backreferences, lookbehind or
 *   inline flags.
 */
export function boundedPattern(source: string): BoundedPattern | undefined {
  const parser = new Parser(source)
  const match = parser.alternatives()
  if (parser.isUnbounded) return undefined
  const { variableRepeats, isFlat, minLength } = parser
  const isAnchored = source.startsWith('^') && parser.branches === 1
  return {
    isLinear: isFlat && minLength <= SHORT_LENGTH && variableRepeats <= (isAnchored ? 1 : 0),
    test(text, countStep) {
      const attempt = { text, countStep, untried: [] }
      const lastStart = isAnchored ? 0 : text.length
      for (let start = 0; start <= lastStart; start += widthOf(text.codePointAt(start) ?? 0)) {
        if (matchesAt(match, attempt, start)) return true
      }
      return false
    },
  }
}

/** Tries all alternatives at an index until one matches. */
function matchesAt(match: Matcher, { text, countStep }: MatchAttempt, at: number): boolean {
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

/** Turns a pattern into functions. */
class Parser {
  readonly #source: string
  #at = 0
  /** Whether the pattern cannot be bounded. */
  isUnbounded = false
  /** Whether the pattern has neither groups nor alternatives. */
  isFlat = true
  /** The number of repetitions of variable length. */
  variableRepeats = 0
  /** The minimum length of a match, in characters. */
  minLength = 0
  /** The number of alternatives of the whole pattern, known after parsing. */
  branches = 0

  constructor(source: string) {
    this.#source = source
  }

  alternatives(): Matcher {
    const first = this.#sequence()
    const others: Matcher[] = []
    while (this.#skip('|')) others.push(this.#sequence())
    this.branches = 1 + others.length
    if (others.length > 0) this.isFlat = false
    // The alternative that is added last is tried first
    others.reverse()
    return (run, at, next) => {
      for (const match of others) run.untried.push([(from) => match(run, from, next), at])
      first(run, at, next)
    }
  }

  #sequence(): Matcher {
    const matchers: Matcher[] = []
    while (this.#at < this.#source.length && !/[|)]/.test(this.#peek())) {
      matchers.push(this.#quantified(this.#atom()))
    }
    return matchers.reduceRight<Matcher>(
      (rest, match) => (run, at, next) => match(run, at, (end) => rest(run, end, next)),
      (_run, at, next) => next(at),
    )
  }

  #peek(): string {
    return this.#source[this.#at] ?? ''
  }

  /** Consumes a text if it comes next. */
  #skip(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false
    this.#at += text.length
    return true
  }

  /** Consumes the text that a sticky expression matches next, if any. */
  #read(sticky: RegExp): RegExpExecArray | undefined {
    sticky.lastIndex = this.#at
    const match = sticky.exec(this.#source) ?? undefined
    this.#at += match?.[0].length ?? 0
    return match
  }

  #atom(): Atom {
    if (this.#skip('^')) return assertion((_run, at) => at === 0)
    if (this.#skip('$')) return assertion(({ text }, at) => at === text.length)
    const boundary = this.#read(/\\[bB]/y)
    if (boundary)
      return assertion(({ text }, at) => isBoundary(text, at) === (boundary[0] === '\\b'))
    // The beginning of a group: `(`, with the name or the kind of the group
    const group = this.#read(/\((?:\?(?:<(?![=!])[^>]*>|[:=!]|<[=!]|[a-z-]*:))?/y)
    return group ? this.#group(group[0]) : this.#char()
  }

  #group(opening: string): Atom {
    const match = this.alternatives()
    this.#skip(')')
    this.isFlat = false
    if (/^\(\?(?:<[=!]|[a-z-]+:)/.test(opening)) this.isUnbounded = true
    if (opening !== '(?=' && opening !== '(?!') return { match }
    const isPositive = opening === '(?='
    return assertion((run, at) => matchesAt(match, run, at) === isPositive)
  }

  #char(): Atom {
    if (this.#read(/\\(?:k<|[1-9])/y)) this.isUnbounded = true
    const match = this.#read(
      /\[(?:[^\]\\]|\\[^])*\]|\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u\{[^}]*\}|\\u....|\\[pP]\{[^}]*\}|\\x..|\\c.|\\?[^]/uy,
    )
    const source = match?.[0] ?? ''
    const isLiteral = source !== '.' && source.length === widthOf(source.codePointAt(0) ?? 0)
    const char = isLiteral ? literal(source) : characterClass(source)
    this.minLength++
    return {
      char,
      match({ text, countStep }, at, next) {
        countStep()
        const code = text.codePointAt(at)
        if (code !== undefined && char(code)) next(at + widthOf(code))
      },
    }
  }

  #quantified(atom: Atom): Matcher {
    // `*`, `+`, `?` or `{min,max}`; a `?` behind it makes it lazy
    const quantifier = this.#read(/(?:([*+?])|\{(\d+)(,?)(\d*)\})(\??)/y)
    if (!quantifier) return atom.match
    const [, sign, low, comma, high, lazy] = quantifier
    const { min, max } = sign ? rangeOfSign(sign) : rangeOfBraces(low, comma, high)
    if (min !== max) this.variableRepeats++
    if (!atom.char) this.isFlat = false
    this.minLength += min
    const repeat = { min, max, isGreedy: lazy === '' }
    return atom.char ? repeatChar(atom.char, repeat) : repeatAny(atom.match, repeat)
  }
}

function rangeOfSign(sign: string): { min: number; max: number } {
  return { min: sign === '+' ? 1 : 0, max: sign === '?' ? 1 : Infinity }
}

/** The range of `{low}`, `{low,}` or `{low,high}`. */
function rangeOfBraces(
  low: string | undefined,
  comma: string | undefined,
  high: string | undefined,
): { min: number; max: number } {
  const min = Number(low)
  if (!comma) return { min, max: min }
  return { min, max: high ? Number(high) : Infinity }
}

interface Repeat {
  readonly min: number
  readonly max: number
  readonly isGreedy: boolean
}

/**
 * Repeats a character. A greedy repetition first takes as many characters as possible, and then one less
 * for each further attempt; a lazy one first takes as few as possible, and then one more. Only the next
 * attempt is in the list of untried alternatives.
 */
function repeatChar(char: CharTest, { min, max, isGreedy }: Repeat): Matcher {
  return ({ text, countStep, untried }, start, next) => {
    const advance = (at: number, count: number): number | undefined => {
      countStep()
      const code = text.codePointAt(at)
      return count < max && code !== undefined && char(code) ? at + widthOf(code) : undefined
    }
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
function repeatAny(match: Matcher, { min, max, isGreedy }: Repeat): Matcher {
  const repeat = (run: MatchAttempt, at: number, next: Next, count: number): void => {
    run.countStep()
    const again: Next = (from) => {
      if (count >= max) return
      match(run, from, (end) => {
        if (end !== from || count < min) {
          run.untried.push([(to) => repeat(run, to, next, count + 1), end])
        }
      })
    }
    if (count < min) return again(at)
    run.untried.push([isGreedy ? next : again, at])
    if (isGreedy) again(at)
    else next(at)
  }
  return (run, at, next) => repeat(run, at, next, 0)
}

/** An atom that consumes nothing, such as `^` or a lookahead. */
function assertion(isTrue: (run: MatchAttempt, at: number) => boolean): Atom {
  return {
    match(run, at, next) {
      run.countStep()
      if (isTrue(run, at)) next(at)
    },
  }
}

function literal(source: string): CharTest {
  const code = source.codePointAt(0)
  return (char) => char === code
}

/** Tests characters with the platform's engine, and caches the results. */
function characterClass(source: string): CharTest {
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
function widthOf(code: number): 1 | 2 {
  return code > 0xffff ? 2 : 1
}

function isBoundary(text: string, at: number): boolean {
  return /\w/.test(text[at - 1] ?? '') !== /\w/.test(text[at] ?? '')
}
