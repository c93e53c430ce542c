/**
 * Reads the values of options. Each function throws a `UsageError` if the value is invalid.
 */
import { parseUrl } from '#internal/patterns'
import { findRevision, type Revision } from '../../../src/index.ts'
import type { Scope } from './hosts/host.ts'
import { UsageError } from './usage.ts'

/**
 * Reads the headers of `--header`, and adds the token.
 *
 * @throws {UsageError} If HTTP does not allow a header or the token.
 */
export function headersOf(
  pairs: readonly string[],
  token: string | undefined = process.env.EDGEWISE_TOKEN,
): Headers {
  const headers = new Headers()
  for (const pair of pairs) {
    const [name, value] = splitPair(pair, ':', '--header')
    try {
      headers.append(name.trim(), value)
    } catch {
      throw new UsageError(`"${pair}" is not a valid HTTP header`)
    }
  }
  if (token === undefined || token === '') return headers
  try {
    headers.set('authorization', `Bearer ${token}`)
  } catch {
    throw new UsageError('The token has characters that are not allowed in an HTTP header')
  }
  return headers
}

/** Splits a value such as `name=value`. The name must not be empty. */
export function splitPair(
  pair: string,
  separator: string,
  option: string,
): [name: string, value: string] {
  const nameEnd = pair.indexOf(separator)
  if (nameEnd < 1) throw new UsageError(`"${option}" must be name${separator}value, not "${pair}"`)
  return [pair.slice(0, nameEnd), pair.slice(nameEnd + 1)]
}

/** Reads a whole number in a range. */
export function numberOf(
  text: string | undefined,
  option: string,
  min: number,
  max: number,
): number | undefined {
  if (text === undefined) return undefined
  const number = /^\d+$/.test(text) ? Number(text) : NaN
  const isInRange = number >= min && number <= max
  if (!isInRange) {
    throw new UsageError(`"${option}" must be a whole number from ${min} to ${max}, not "${text}"`)
  }
  return number
}

/** Reads the value of `--scope`. */
export function scopeOf(text: string | undefined): Scope {
  if (text === undefined || text === 'user') return 'user'
  if (text === 'project') return 'project'
  throw new UsageError(`"--scope" must be "user" or "project", not "${text}"`)
}

/** Reads the value of `--path`. */
export function pathOf(text: string | undefined): string | undefined {
  if (text === undefined || /^\/[\w./~-]*$/.test(text)) return text
  throw new UsageError(`"--path" must be a path such as "/mcp", not "${text}"`)
}

/** Reads the value of `--webhook`. */
export function webhookOf(text: string | undefined): string | undefined {
  if (text === undefined || parseUrl(text)?.protocol === 'https:') return text
  throw new UsageError(`"--webhook" must be a URL that begins with "https://", not "${text}"`)
}

/** Reads the value of `--revision`. */
export function revisionOf(text: string | undefined): Revision | undefined {
  if (text === undefined) return undefined
  const revision = findRevision(text)
  if (!revision) throw new UsageError(`Unknown revision: "${text}"`)
  return revision.version
}
