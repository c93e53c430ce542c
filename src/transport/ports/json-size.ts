/**
 * Whether a value that came as it is, and not as text, is JSON, and how much of it there is.
 *
 * @see https://html.spec.whatwg.org/multipage/structured-data.html
 */
import { INVALID_REQUEST, PARSE_ERROR, ProtocolError } from '../../protocol/errors.ts'
import { MAX_DEPTH } from '../../protocol/validate.ts'
import { jsonCopy } from '../json-copy.ts'

/** What is known while a value is looked through. */
interface Look {
  /** How much more there may be. */
  left: number
  /** Whether nothing was met that writing JSON would change. */
  clean: boolean
}

/**
 * The value as JSON would have carried it. Members that are `undefined`, which peers post though
 * JSON has none, are left out.
 *
 * @param maxLength The longest that the value's JSON may be, in UTF-16 units; counted roughly, as
 *   escapes and the digits of numbers are not looked at.
 * @throws {ProtocolError} `INVALID_REQUEST` when there is more, `PARSE_ERROR` when it is no JSON:
 *   a cycle, a map, bytes.
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
    // Tells maps, dates and bytes from plain objects, of whatever realm they are
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
