/**
 * Regular expressions whose work is counted, so that one that backtracks for ever can be given up.
 * Platforms have no such limit.
 *
 * It visits what a backtracking engine visits, in the same order, and keeps what is still to be tried
 * in a list, as the stack would be too short for long texts. Single characters are left to the platform,
 * so that classes and properties mean what they mean there.
 *
 * @see https://tc39.es/ecma262/multipage/text-processing.html#sec-pattern
 */

/** Counts work down; throws when there is none left. */
export type Spend = () => void

/** A pattern that can be matched with its work counted. */
export interface BoundedPattern {
  /** Whether the work grows with the length of the text only, so that nothing has to be counted. */
  readonly isLinear: boolean
  /** Whether the pattern matches anywhere in a text; whatever `spend` throws. */
  test(text: string, spend: Spend): boolean
}

/** What is matched, what counts the work, and what is still to be tried: the last first. */
interface Run {
  readonly text: string
  readonly spend: Spend
  readonly left: [next: Next, at: number][]
}

type Next = (at: number) => void
/** Matches at a place, and adds what follows to what is still to be tried. */
type Matcher = (run: Run, at: number, next: Next) => void
/** Whether a character, by its code point, is one that is meant. */
type CharTest = (char: number) => boolean

/** Something that may be repeated: a character, or anything else. */
interface Atom {
  readonly char?: CharTest
  readonly match: Matcher
}

/** So many characters are no small work for each place of a text. */
const MANY = 50
/** How much may be left to be tried, for want of memory. */
const MAX_LEFT = 1_000_000

/**
 * Reads a pattern of the `u` flag, which must be valid; nothing when it has what cannot be bounded:
 * backreferences, lookbehind, flags inside.
 */
export function boundedPattern(source: string): BoundedPattern | undefined {
  const parser = new Parser(source)
  const match = parser.alternatives()
  if (parser.isUnbounded) return undefined
  const { variables, isSimple, size } = parser
  const isAnchored = source.startsWith('^') && parser.branches === 1
  return {
    isLinear: isSimple && size <= MANY && variables <= (isAnchored ? 1 : 0),
    test(text, spend) {
      const run = { text, spend, left: [] }
      const last = isAnchored ? 0 : text.length
      for (let at = 0; at <= last; at += widthOf(text.codePointAt(at) ?? 0)) {
        if (matchesAt(match, run, at)) return true
      }
      return false
    },
  }
}

/** Tries all that there is to try at a place, until something matches. */
function matchesAt(match: Matcher, { text, spend }: Run, at: number): boolean {
  let isFound = false
  const left: Run['left'] = []
  match({ text, spend, left }, at, () => void (isFound = true))
  for (let one = left.pop(); one && !isFound; one = left.pop()) {
    if (left.length > MAX_LEFT) throw new RangeError('Too much is left to be tried')
    one[0](one[1])
  }
  return isFound
}

/** Turns a pattern into functions. */
class Parser {
  readonly #source: string
  #at = 0
  /** Whether something was met that cannot be bounded. */
  isUnbounded = false
  /** Whether characters alone are repeated, one branch after the other. */
  isSimple = true
  /** How many repetitions may be of different length. */
  variables = 0
  /** How many characters there are at least. */
  size = 0
  /** How many alternatives the whole pattern has, once it is read. */
  branches = 0

  constructor(source: string) {
    this.#source = source
  }

  alternatives(): Matcher {
    const all = [this.#sequence()]
    while (this.#takes('|')) all.push(this.#sequence())
    this.branches = all.length
    const first = all.shift()
    if (all.length > 0) this.isSimple = false
    all.reverse()
    return (run, at, next) => {
      for (const match of all) run.left.push([(from) => match(run, from, next), at])
      first?.(run, at, next)
    }
  }

  #sequence(): Matcher {
    const all: Matcher[] = []
    while (this.#at < this.#source.length && !/[|)]/.test(this.#peek())) {
      all.push(this.#quantified(this.#atom()))
    }
    return all.reduceRight<Matcher>(
      (rest, match) => (run, at, next) => match(run, at, (end) => rest(run, end, next)),
      (_run, at, next) => next(at),
    )
  }

  #peek(): string {
    return this.#source[this.#at] ?? ''
  }

  #takes(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false
    this.#at += text.length
    return true
  }

  /** Takes what a sticky expression matches here. */
  #take(sticky: RegExp): RegExpExecArray | undefined {
    sticky.lastIndex = this.#at
    const taken = sticky.exec(this.#source) ?? undefined
    this.#at += taken?.[0].length ?? 0
    return taken
  }

  #atom(): Atom {
    if (this.#takes('^')) return place((_run, at) => at === 0)
    if (this.#takes('$')) return place(({ text }, at) => at === text.length)
    const boundary = this.#take(/\\[bB]/y)
    if (boundary) return place(({ text }, at) => isBoundary(text, at) === (boundary[0] === '\\b'))
    const group = this.#take(/\((?:\?(?:<(?![=!])[^>]*>|[:=!]|<[=!]|[a-z-]*:))?/y)
    return group ? this.#group(group[0]) : this.#char()
  }

  #group(opening: string): Atom {
    const match = this.alternatives()
    this.#takes(')')
    this.isSimple = false
    if (/^\(\?(?:<[=!]|[a-z-]+:)/.test(opening)) this.isUnbounded = true
    if (opening !== '(?=' && opening !== '(?!') return { match }
    const wanted = opening === '(?='
    return place((run, at) => matchesAt(match, run, at) === wanted)
  }

  #char(): Atom {
    if (this.#take(/\\(?:k<|[1-9])/y)) this.isUnbounded = true
    const taken = this.#take(
      /\[(?:[^\]\\]|\\[^])*\]|\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u\{[^}]*\}|\\u....|\\[pP]\{[^}]*\}|\\x..|\\c.|\\?[^]/uy,
    )
    const source = taken?.[0] ?? ''
    const isItself = source !== '.' && source.length === widthOf(source.codePointAt(0) ?? 0)
    const char = isItself ? equals(source) : isOne(source)
    this.size++
    return {
      char,
      match({ text, spend }, at, next) {
        spend()
        const code = text.codePointAt(at)
        if (code !== undefined && char(code)) next(at + widthOf(code))
      },
    }
  }

  #quantified(atom: Atom): Matcher {
    const taken = this.#take(/(?:([*+?])|\{(\d+)(,?)(\d*)\})(\??)/y)
    if (!taken) return atom.match
    const [, sign, low, comma, high, lazy] = taken
    const min = sign ? (sign === '+' ? 1 : 0) : Number(low)
    const open = sign ? (sign === '?' ? 1 : Infinity) : comma ? Infinity : min
    const max = high ? Number(high) : open
    if (min !== max) this.variables++
    if (!atom.char) this.isSimple = false
    this.size += min
    const repeat = { min, max, isGreedy: lazy === '' }
    return atom.char ? repeatChar(atom.char, repeat) : repeatAny(atom.match, repeat)
  }
}

interface Repeat {
  readonly min: number
  readonly max: number
  readonly isGreedy: boolean
}

/** Repeats a character; what is to be tried with fewer is made when it comes to that. */
function repeatChar(char: CharTest, { min, max, isGreedy }: Repeat): Matcher {
  return ({ text, spend, left }, start, next) => {
    const advance = (at: number, count: number): number | undefined => {
      spend()
      const code = text.codePointAt(at)
      return count < max && code !== undefined && char(code) ? at + widthOf(code) : undefined
    }
    let count = 0
    let end = start
    for (let to: number | undefined = end; to !== undefined; count++) {
      end = to
      to = isGreedy || count < min ? advance(end, count) : undefined
    }
    count--
    if (count < min) return
    const other = (at: number): void => {
      let to: number | undefined
      if (!isGreedy) to = advance(at, count++)
      else if (count-- > min) {
        to = at - (at - 2 >= start && (text.codePointAt(at - 2) ?? 0) > 0xffff ? 2 : 1)
      }
      if (to === undefined) return
      left.push([other, to])
      next(to)
    }
    left.push([other, end])
    next(end)
  }
}

/** Repeats anything; what matches nothing is not repeated beyond what has to be. */
function repeatAny(match: Matcher, { min, max, isGreedy }: Repeat): Matcher {
  const repeat = (run: Run, at: number, next: Next, count: number): void => {
    run.spend()
    const again: Next = (from) => {
      if (count >= max) return
      match(run, from, (end) => {
        if (end !== from || count < min) {
          run.left.push([(to) => repeat(run, to, next, count + 1), end])
        }
      })
    }
    if (count < min) return again(at)
    run.left.push([isGreedy ? next : again, at])
    if (isGreedy) again(at)
    else next(at)
  }
  return (run, at, next) => repeat(run, at, next, 0)
}

function place(is: (run: Run, at: number) => boolean): Atom {
  return {
    match(run, at, next) {
      run.spend()
      if (is(run, at)) next(at)
    },
  }
}

function equals(source: string): CharTest {
  const code = source.codePointAt(0)
  return (char) => char === code
}

/** Asks the platform about one character, once for each. */
function isOne(source: string): CharTest {
  const pattern = new RegExp(`^${source}$`, 'u')
  const known = new Map<number, boolean>()
  return (char) => {
    let is = known.get(char)
    if (is === undefined) {
      is = pattern.test(String.fromCodePoint(char))
      known.set(char, is)
    }
    return is
  }
}

function widthOf(code: number): 1 | 2 {
  return code > 0xffff ? 2 : 1
}

function isBoundary(text: string, at: number): boolean {
  return /\w/.test(text[at - 1] ?? '') !== /\w/.test(text[at] ?? '')
}
