/**
 * Copies a value as if by serializing it to JSON and parsing it again, but several times faster.
 *
 * @see https://tc39.es/ecma262/#sec-json.stringify
 */

/**
 * Returns the value as it would arrive over a network. The copy shares no objects with the original. Values that
 * JSON does not support are omitted, or replaced with `null` in arrays. Lone surrogates become U+FFFD.
 *
 * @throws {TypeError} For a bigint.
 * @throws {RangeError} For an object that contains itself.
 */
export function jsonCopy(value: unknown): unknown {
  switch (typeof value) {
    case 'object':
      return value === null ? null : copyObject(value)
    case 'number':
      return Number.isFinite(value) ? value : null
    case 'bigint':
      throw new TypeError('Cannot write a BigInt as JSON')
    case 'string':
      return value.toWellFormed()
    case 'function':
    case 'symbol':
      return undefined
    default:
      return value
  }
}

function copyObject(value: object): unknown {
  if (Array.isArray(value)) return Array.from(value, (member) => jsonCopy(member) ?? null)
  if ('toJSON' in value && typeof value.toJSON === 'function') return jsonCopy(value.toJSON())
  const copy: Record<string, unknown> = {}
  for (const [key, member] of Object.entries(value)) {
    const copied = jsonCopy(member)
    if (copied === undefined) continue
    // An assignment would set the copy's prototype
    if (key === '__proto__') Object.defineProperty(copy, key, { ...PLAIN_PROPERTY, value: copied })
    else copy[key.toWellFormed()] = copied
  }
  return copy
}

const PLAIN_PROPERTY = { configurable: true, enumerable: true, writable: true }
