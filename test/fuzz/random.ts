/**
 * Random input that is the same on every run: a failing case names its seed.
 *
 * @see https://github.com/cprosche/mulberry32
 */

/** A source of random values. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** A number from 0, inclusive, to 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }

  /** An integer from 0 to less than `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end)
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!
  }

  list<T>(max: number, make: () => T): T[] {
    return Array.from({ length: this.below(max + 1) }, make)
  }

  /** Text of the given characters, or of all kinds of odd ones. */
  text(max = 12, characters: string | readonly string[] = ODD): string {
    const choices = Array.from(characters)
    return this.list(max, () => this.pick(choices)).join('')
  }

  /** Any JSON value. */
  json(depth = 3): unknown {
    const kind = this.below(depth > 0 ? 8 : 6)
    if (kind === 6) return this.list(4, () => this.json(depth - 1))
    if (kind === 7) {
      return Object.fromEntries(this.list(4, () => [this.name(), this.json(depth - 1)]))
    }
    return this.pick([null, true, false, 0, -0.5, 1e308, 2 ** 53, '', this.text(), this.below(100)])
  }

  /** A member's name; some are those of `Object.prototype`. */
  name(): string {
    return this.chance(0.3)
      ? this.pick(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'then'])
      : this.text(4)
  }

  /** A text with one character changed, removed or added. */
  mutate(text: string): string {
    const at = this.below(text.length + 1)
    const rest = text.slice(at + this.below(2))
    return text.slice(0, at) + (this.chance(0.7) ? this.pick(ODD) : '') + rest
  }
}

/** Runs a check with many seeds; says which one failed. */
export async function repeat(
  times: number,
  check: (random: Random) => void | Promise<void>,
): Promise<void> {
  for (let seed = 1; seed <= times; seed++) {
    try {
      await check(new Random(seed))
    } catch (error) {
      throw new Error(`Seed ${seed}: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      })
    }
  }
}

const ODD = [
  ...Array.from('abzAZ019 -_.~!*\'();:@&=+$,/?%#[]{}|\\^`"<>\t\n\r\0\x7f\u00e9\u00df\u0130\u2028'),
  '\ufeff',
  '世',
  '🙂',
  '\u0301',
  '%41',
  '%2f',
  '%zz',
  '=?base64?',
  '?=',
]
