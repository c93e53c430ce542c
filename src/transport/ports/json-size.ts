/**
 * Checks whether a structured clone is valid JSON, and how large it is.
 *
 * @see https://html.spec.whatwg.org/multipage/structured-data.html
 */
import { ProtocolError } from '../../protocol/errors.ts'
import { INVALID_REQUEST, PARSE_ERROR } from '../../protocol/error-codes.ts'
import { MAX_DEPTH } from '../../protocol/validate.ts'
import { jsonCopy } from '../json-copy.ts'

/** The state of a traversal. */
interface Look {
  /** The remaining size. */
  left: number
  /** Whether the value is unchanged by a JSON round trip so far. */
  clean: boolean
}

/**
 * The value as JSON would have represented it. Members that are `undefined`, which peers post
 * although JSON lacks it, are omitted.
 *
 * @param maxLength The longest JSON of the value, in UTF-16 units; an estimate, which ignores
 *   escapes and the digits of numbers.
 * @throws {ProtocolError} `INVALID_REQUEST` if it is longer, `PARSE_ERROR` if it is not JSON: a
 *   cycle, a map, bytes.
 */
export function takeJson(value: unknown, maxLength: number): unknown {
  const look: Look = { left: maxLength, clean: true }
  measure(value, look, 0)
  return look.clean ? value : jsonCopy(value)
}

function measure(value: unknown, look: Look, depth: number): void {
  if (typeof value === 'string') spend(look, value.length + 2)
  else if (typeof value === 'number') {
    spend(look, 8)
    if (!Number.isFinite(value)) look.clean = false
  } else if (typeof value === 'boolean' || value === null) spend(look, 4)
  else if (value === undefined) look.clean = false
  else if (typeof value !== 'object') throw noJson()
  else if (depth >= MAX_DEPTH) throw noJson()
  else if (Array.isArray(value)) {
    spend(look, value.length + 2)
    for (const member of value as unknown[]) measure(member, look, depth + 1)
  } else {
    // Distinguishes maps, dates and bytes from plain objects of any realm
    if (Object.prototype.toString.call(value) !== '[object Object]') throw noJson()
    spend(look, 2)
    for (const [key, member] of Object.entries(value)) {
      spend(look, key.length + 4)
      measure(member, look, depth + 1)
    }
  }
}

function spend(look: Look, length: number): void {
  look.left -= length
  if (look.left < 0) throw new ProtocolError(INVALID_REQUEST, 'The message is too long')
}

function noJson(): ProtocolError {
  return new ProtocolError(PARSE_ERROR, 'Parse error: the message is not JSON')
}
