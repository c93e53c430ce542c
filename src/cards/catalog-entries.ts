/**
 * Reads the entries of AI catalogs.
 *
 * @see https://github.com/Agent-Card/ai-catalog
 */
import { isObject } from '../protocol/validate.ts'
import { failure } from './fetch-document.ts'
import { faultsOf, TEXT, URI, type Shape } from './shape.ts'
import { canonicalJson } from '../patterns/canonical-json.ts'
import type { AiCatalog, CatalogEntry } from './types.ts'

const CATALOG: Shape = { 'specVersion!': /^\d+\.\d+$/ }

const ENTRY: Shape = {
  'identifier!': /./,
  'type!': TEXT,
  url: URI,
  displayName: TEXT,
  description: TEXT,
  version: TEXT,
  updatedAt: TEXT,
  digest: TEXT,
}

/** A catalog whose entries have not been checked. */
export type UncheckedCatalog = Omit<AiCatalog, 'entries'> & { readonly entries: readonly unknown[] }

/**
 * Checks that a value is a catalog of a supported version: 1.0, or a later version with the same major
 * version.
 *
 * @throws {SdkError} `INVALID_MESSAGE`, with `catalog` as `data.step`.
 */
export function requireCatalog(value: unknown, url: string | undefined): UncheckedCatalog {
  const faults = faultsOf(value, CATALOG)
  const { specVersion = '', entries } = isObject(value) ? value : {}
  if (!Array.isArray(entries)) faults.push('"entries" must be a list')
  else if (faults.length === 0 && !String(specVersion).startsWith('1.')) {
    faults.push(`its version ${String(specVersion)} is not supported, only 1.x`)
  }
  if (faults.length === 0) return value as UncheckedCatalog
  throw failure('INVALID_MESSAGE', 'catalog', url, `is not an AI catalog: ${faults.join('; ')}`)
}

/**
 * Checks one entry.
 *
 * @param catalogUrl Where the catalog is, for the error.
 * @throws {SdkError} `INVALID_MESSAGE`, with `entry` as `data.step`.
 */
export function requireEntry(value: unknown, catalogUrl: string | undefined): CatalogEntry {
  // In catalogs of earlier drafts, `type` is called `mediaType`
  const entry =
    isObject(value) && 'mediaType' in value ? { type: value.mediaType, ...value } : value
  const faults = faultsOf(entry, ENTRY)
  const hasBothOrNeither = isObject(entry) && 'url' in entry === 'data' in entry
  if (hasBothOrNeither) faults.push('either "url" or "data" must be set')
  if (faults.length === 0) return entry as CatalogEntry
  const reason = `has an invalid entry: ${faults.join('; ')}`
  throw failure('INVALID_MESSAGE', 'entry', catalogUrl, reason)
}

/**
 * Checks the digest of an entry, if it has one.
 *
 * @param document The received bytes, or the embedded value. The digest of a value is computed from its
 *   canonical form.
 * @throws {SdkError} `INVALID_MESSAGE`, with `digest` as `data.step`.
 */
export async function requireDigest(
  { digest, identifier }: CatalogEntry,
  document: Uint8Array<ArrayBuffer> | { readonly data: unknown },
): Promise<void> {
  if (digest === undefined) return
  const bytes =
    document instanceof Uint8Array
      ? document
      : new TextEncoder().encode(canonicalJson(document.data))
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  const hexadecimal = Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('')
  if (digest === `sha256:${hexadecimal}`) return
  const reason = digest.startsWith('sha256:')
    ? 'does not match its digest'
    : `has a digest that is not SHA-256: "${digest}"`
  throw failure('INVALID_MESSAGE', 'digest', identifier, reason)
}

/**
 * Returns the newest entry of each identifier, in the order of the catalog. Entries are compared by semantic
 * version, or by the time of the last change if a version is not semantic.
 */
export function newestEntries(entries: readonly CatalogEntry[]): CatalogEntry[] {
  const newest = new Map<string, CatalogEntry>()
  for (const entry of entries) {
    const other = newest.get(entry.identifier)
    if (!other || isNewer(entry, other)) newest.set(entry.identifier, entry)
  }
  return [...newest.values()]
}

/** Matches a semantic version; the groups are its three numbers and its pre-release. */
const SEMANTIC = /^(\d+)\.(\d+)\.(\d+)(?:-([\w.-]+))?(?:\+.*)?$/

function isNewer(entry: CatalogEntry, other: CatalogEntry): boolean {
  const version = SEMANTIC.exec(entry.version ?? '')
  const otherVersion = SEMANTIC.exec(other.version ?? '')
  if (!version || !otherVersion) return (entry.updatedAt ?? '') > (other.updatedAt ?? '')
  for (const group of [1, 2, 3]) {
    const difference = Number(version[group]) - Number(otherVersion[group])
    if (difference !== 0) return difference > 0
  }
  const [prerelease, otherPrerelease] = [version[4], otherVersion[4]]
  // A release is newer than its pre-releases
  if (otherPrerelease === undefined) return false
  if (prerelease === undefined) return true
  return comparePrereleases(prerelease.split('.'), otherPrerelease.split('.')) > 0
}

function comparePrereleases(a: readonly string[], b: readonly string[]): number {
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const part = a[at] ?? ''
    const otherPart = b[at] ?? ''
    if (part === otherPart) continue
    const isNumber = /^\d+$/.test(part)
    const isOtherNumber = /^\d+$/.test(otherPart)
    if (isNumber && isOtherNumber) return Number(part) - Number(otherPart)
    // A shorter list comes before a longer one, and a number before a text
    if (part === '' || otherPart === '') return part === '' ? -1 : 1
    if (isNumber !== isOtherNumber) return isNumber ? -1 : 1
    return part < otherPart ? -1 : 1
  }
  return 0
}
