/**
 * Checks whether a structured clone can be represented as JSON, and how long the JSON would be.
 *
 * @see https://html.spec.whatwg.org/multipage/structured-data.html
 */
import { ProtocolError } from '../../protocol/errors.ts'
import { INVALID_REQUEST, PARSE_ERROR } from '../../protocol/error-codes.ts'
import { MAX_DEPTH } from '../../protocol/validate.ts'
import { jsonCopy } from '../json-copy.ts'

/** The state while a value is measured. */
interface Measurement {
  /** How much longer the value may be, in UTF-16 units. */
  remaining: number
  /** Whether a JSON round trip would leave everything unchanged that was measured so far. */
  isJson: boolean
}

/**
 * Returns the value as it would be after a JSON round trip. Members that are `undefined`, which peers may post, are
 * omitted, because JSON does not have this value.
 *
 * @param maxLength The maximum length of the value as JSON, in UTF-16 units. The length is an
 *   estimate that ignores escapes and the digits of numbers.
 * @throws {ProtocolError} `INVALID_REQUEST` if the value is longer; `PARSE_ERROR` if JSON cannot
 *   represent it, such as a cycle, a map or bytes.
 */
export function readJson(value: unknown, maxLength: number): unknown {
  const measurement: Measurement = { remaining: maxLength, isJson: true }
  measure(value, measurement, 0)
  return measurement.isJson ? value : jsonCopy(value)
}

/**
 * Counts the length of a value: 8 for a number, 4 for `true`, `false` or `null`, and 2 for the quotes or
 * brackets of any other value. Each member of an array counts 1 more for its comma. Each key counts its
 * length, and 4 more for its quotes, colon and comma.
 */
function measure(value: unknown, measurement: Measurement, depth: number): void {
  if (typeof value === 'string') count(measurement, value.length + 2)
  else if (typeof value === 'number') {
    count(measurement, 8)
    if (!Number.isFinite(value)) measurement.isJson = false
  } else if (typeof value === 'boolean' || value === null) count(measurement, 4)
  else if (value === undefined) measurement.isJson = false
  else if (typeof value !== 'object') throw notJson()
  else if (depth >= MAX_DEPTH) throw notJson()
  else if (Array.isArray(value)) {
    count(measurement, value.length + 2)
    for (const member of value as unknown[]) measure(member, measurement, depth + 1)
  } else {
    // Distinguishes maps, dates and bytes from plain objects of any realm
    if (Object.prototype.toString.call(value) !== '[object Object]') throw notJson()
    count(measurement, 2)
    for (const [key, member] of Object.entries(value)) {
      count(measurement, key.length + 4)
      measure(member, measurement, depth + 1)
    }
  }
}

function count(measurement: Measurement, length: number): void {
  measurement.remaining -= length
  if (measurement.remaining < 0) throw new ProtocolError(INVALID_REQUEST, 'The message is too long')
}

function notJson(): ProtocolError {
  return new ProtocolError(PARSE_ERROR, 'Parse error: the message is not JSON')
}
