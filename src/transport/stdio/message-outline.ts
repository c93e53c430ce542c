/**
 * The outline of a message that is too long to be read. It contains the `id` of the message. The id is needed to answer
 * an oversized request with an error, and to reject the call that waits for an oversized response. The whole message
 * must be scanned, because several SDKs write the id last.
 *
 * @see https://www.jsonrpc.org/specification#response_object
 */
import type { JsonObject } from '../../protocol/types.ts'

/** The maximum length of a member in the outline, in bytes. */
const MAX_MEMBER_BYTES = 512
/** The maximum number of members in the outline. */
const MAX_MEMBERS = 16

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const SPACE = 0x20

/** Scans JSON for the members of the outermost object, and empties nested objects and arrays. */
export class MessageOutline {
  #isObject = true
  #depth = 0
  #inString = false
  #isEscaped = false
  #members: readonly string[] = []
  /** The bytes of the current member. */
  #current: number[] = []

  /** Scans the next bytes of the message. */
  scan(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length && this.#isObject; at++) {
      if (this.#inString) at = this.#scanString(bytes, at)
      else this.#scanToken(bytes[at] ?? SPACE)
    }
  }

  /** Scans to the end of a string. Returns the index of the closing quote, or the length of `bytes`. */
  #scanString(bytes: Uint8Array, start: number): number {
    let isEscaped = this.#isEscaped
    let at = start
    for (; at < bytes.length; at++) {
      const byte = bytes[at]
      if (isEscaped) isEscaped = false
      else if (byte === BACKSLASH) isEscaped = true
      else if (byte === QUOTE) break
    }
    this.#isEscaped = isEscaped
    this.#inString = at === bytes.length
    if (this.#depth === 1)
      this.#append(...bytes.subarray(start, Math.min(at + 1, start + MAX_MEMBER_BYTES)))
    return at
  }

  /**
   * The scanned part of the message, without nested content. `undefined` if the message is not an
   * object. Members that reach {@link MAX_MEMBER_BYTES} are omitted.
   */
  get content(): JsonObject | undefined {
    if (!this.#isObject) return undefined
    // Within a nested object or array, the current member is complete: its value is `{}` or `[]`
    const members = this.#depth > 1 ? this.#membersAndCurrent() : this.#members
    try {
      return JSON.parse(`{${members.join(',')}}`) as JsonObject
    } catch {
      return undefined
    }
  }

  /** Whether the outline has all relevant members, so that the rest of the message need not be scanned. */
  get isComplete(): boolean {
    const { content } = this
    const kinds = ['method', 'result', 'error']
    return !content || ('id' in content && kinds.some((kind) => kind in content))
  }

  #scanToken(byte: number): void {
    if (this.#depth === 0) {
      // If there are members, the outermost object has already ended
      const hasEnded = this.#members.length > 0
      if (byte === OPEN_OBJECT && !hasEnded) this.#depth++
      else if (byte > SPACE) this.#isObject = false
      return
    }
    switch (byte) {
      case OPEN_OBJECT:
      case OPEN_ARRAY:
        // The character codes of opening and closing brackets differ by two
        if (this.#depth === 1) this.#append(byte, byte + 2)
        this.#depth += 1
        return
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        this.#depth -= 1
        if (this.#depth === 0) this.#endMember()
        return
      case QUOTE:
        this.#inString = true
    }
    if (this.#depth > 1) return
    if (byte === COMMA) this.#endMember()
    else this.#append(byte)
  }

  /** Appends bytes to the current member. */
  #append(...bytes: number[]): void {
    if (this.#current.length < MAX_MEMBER_BYTES) this.#current.push(...bytes)
  }

  #endMember(): void {
    this.#members = this.#membersAndCurrent()
    this.#current = []
  }

  /** Returns the members, with the current member unless it is too long or there are too many members. */
  #membersAndCurrent(): readonly string[] {
    const hasRoom = this.#current.length < MAX_MEMBER_BYTES && this.#members.length < MAX_MEMBERS
    if (!hasRoom) return this.#members
    return [...this.#members, new TextDecoder().decode(Uint8Array.from(this.#current))]
  }
}
