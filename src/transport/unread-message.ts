/**
 * A message that is too long to be read: which one it is, as far as its first and last members tell.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#messages
 */
import type { JsonObject } from '../protocol/jsonrpc.ts'

/** How much of either end is looked at. */
const END_BYTES = 512

const MEMBER =
  /\s*"(jsonrpc|id|method)"\s*:\s*("(?:[ !#-[\]-\uffff]|\\["\\/bfnrt]|\\u[\da-fA-F]{4})*"|-?(?:0|[1-9]\d*))\s*/
const NEXT = /[{,]\s*"(params|result|error)"\s*:/y

/** A pattern with such a member in it. */
function around(before: string, after: string, flags = ''): RegExp {
  return new RegExp(before + MEMBER.source + after, flags)
}

/** Takes the message piece by piece; keeps its ends alone. */
export class UnreadMessage {
  readonly #about: JsonObject = {}
  /** Whether it is a message at all, from what its beginning says. */
  readonly #isMessage: boolean
  #tail = new Uint8Array(0)

  /** @param pieces What came of it so far. */
  constructor(...pieces: readonly Uint8Array[]) {
    const head = pieces.map((piece) => decode(piece.subarray(0, END_BYTES))).join('')
    const first = around('[{,]', '(?=[,}])', 'y')
    let at = head.length - head.trimStart().length
    first.lastIndex = at
    for (let found; (found = first.exec(head)); at = first.lastIndex) this.#note(found)
    NEXT.lastIndex = at
    const [, next] = NEXT.exec(head) ?? []
    // Params come with a method, wherever it stands
    if (next === 'params') this.#about.method ??= ''
    else if (next !== undefined) this.#about[next] = {}
    this.#isMessage = Object.keys(this.#about).length > 0
    for (const piece of pieces) this.skip(piece)
  }

  /** Whether its end may tell which one it is, where its beginning does not. */
  get isOpen(): boolean {
    return this.#isMessage && !('id' in this.#about)
  }

  /** Takes what came next. */
  skip(piece: Uint8Array): void {
    if (!this.isOpen) return
    const last = piece.subarray(-END_BYTES)
    const kept = this.#tail.subarray(Math.max(0, this.#tail.length + last.length - END_BYTES))
    const tail = new Uint8Array(kept.length + last.length)
    tail.set(kept)
    tail.set(last, kept.length)
    this.#tail = tail
  }

  /** Its members that could be read; those of a response without what it brings. */
  about(): JsonObject | undefined {
    const last = around('(?:,', String.raw`)+\}\s*$`)
    const [end = ''] = this.isOpen ? (last.exec(decode(this.#tail)) ?? []) : []
    for (const found of end.matchAll(around(',', '', 'g'))) this.#note(found)
    return this.#isMessage ? this.#about : undefined
  }

  #note([, name = '', value = '']: RegExpMatchArray): void {
    if (name !== 'jsonrpc') this.#about[name] = JSON.parse(value) as unknown
    else this.#about.jsonrpc = '2.0'
  }
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}
