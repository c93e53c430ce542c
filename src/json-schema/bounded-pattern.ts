/**
 * Regular expressions that count their steps, so that catastrophic backtracking can be stopped.
 * The regular expressions of platforms have no such limit.
 *
 * @see https://tc39.es/ecma262/multipage/text-processing.html#sec-pattern
 */
import {
  assertion,
  characterClass,
  isBoundary,
  literal,
  matchesAt,
  repeatAny,
  repeatChar,
  widthOf,
  type Atom,
  type CountStep,
  type Matcher,
} from './pattern-matchers.ts'

/** A pattern whose matching can be stopped. */
export interface BoundedPattern {
  /** Whether matching takes linear time, so that no steps have to be counted. */
  readonly isLinear: boolean
  /** Whether the pattern matches anywhere in a text. Throws what `countStep` throws. */
  test(text: string, countStep: CountStep): boolean
}

/** If the minimum length of a match is at most this, matching takes little time at each index of a text. */
const SHORT_LENGTH = 50

/**
 * Parses a pattern that is valid with the flag `u`.
 *
 * @returns `undefined` for a pattern that cannot be bounded: a pattern with backreferences, lookbehind or
 *   inline flags.
 */
export function boundedPattern(source: string): BoundedPattern | undefined {
  const parser = new Parser(source)
  const match = parser.parseAlternatives()
  if (parser.isUnbounded) return undefined
  const { variableRepeats, isFlat, minLength } = parser
  // With several alternatives, a `^` at the beginning anchors only the first
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

  parseAlternatives(): Matcher {
    const first = this.#parseSequence()
    const others: Matcher[] = []
    while (this.#skip('|')) others.push(this.#parseSequence())
    this.branches = 1 + others.length
    if (others.length > 0) this.isFlat = false
    // The alternative that is added last is tried first
    others.reverse()
    return (attempt, at, next) => {
      for (const match of others) attempt.untried.push([(from) => match(attempt, from, next), at])
      first(attempt, at, next)
    }
  }

  #parseSequence(): Matcher {
    const matchers: Matcher[] = []
    while (this.#at < this.#source.length && !/[|)]/.test(this.#peek())) {
      matchers.push(this.#parseQuantifier(this.#parseAtom()))
    }
    return matchers.reduceRight<Matcher>(
      (rest, match) => (attempt, at, next) => match(attempt, at, (end) => rest(attempt, end, next)),
      (_attempt, at, next) => next(at),
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

  #parseAtom(): Atom {
    if (this.#skip('^')) return assertion((_attempt, at) => at === 0)
    if (this.#skip('$')) return assertion(({ text }, at) => at === text.length)
    const boundary = this.#read(/\\[bB]/y)
    if (boundary)
      return assertion(({ text }, at) => isBoundary(text, at) === (boundary[0] === '\\b'))
    // The beginning of a group: `(`, with the name or the kind of the group
    const group = this.#read(/\((?:\?(?:<(?![=!])[^>]*>|[:=!]|<[=!]|[a-z-]*:))?/y)
    return group ? this.#parseGroup(group[0]) : this.#parseChar()
  }

  #parseGroup(opening: string): Atom {
    const match = this.parseAlternatives()
    this.#skip(')')
    this.isFlat = false
    if (/^\(\?(?:<[=!]|[a-z-]+:)/.test(opening)) this.isUnbounded = true
    if (opening !== '(?=' && opening !== '(?!') return { match }
    const isPositive = opening === '(?='
    return assertion((attempt, at) => matchesAt(match, attempt, at) === isPositive)
  }

  #parseChar(): Atom {
    // A backreference
    if (this.#read(/\\(?:k<|[1-9])/y)) this.isUnbounded = true
    // A class, an escaped surrogate pair, any other escape, or a character
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

  /** Parses the quantifier that may follow an atom. Returns the matcher of both. */
  #parseQuantifier(atom: Atom): Matcher {
    // `*`, `+`, `?` or `{min,max}`. A `?` after the quantifier makes it lazy
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
