/**
 * The servers that a person keeps in this browser: their names and addresses, and nothing secret.
 *
 * @see https://developer.mozilla.org/docs/Web/API/Window/localStorage
 */
import { isObject } from 'edgewise/browser'

/** A saved server. */
export interface SavedServer {
  name: string
  url: string
  /** The revision to speak, or `auto`. */
  revision: string
}

const KEY = 'servers'

/** All that were kept, in the order in which they were. */
export function savedServers(): SavedServer[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '')
    return Array.isArray(kept) ? kept.filter(isSaved) : []
  } catch {
    return []
  }
}

/** Keeps these, and no others. */
export function keep(servers: readonly SavedServer[]): void {
  localStorage.setItem(KEY, JSON.stringify(servers))
}

/** An address without the parts in which people put passwords and keys. */
export function withoutSecrets(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname
}

function isSaved(value: unknown): value is SavedServer {
  return (
    isObject(value) &&
    [value['name'], value['url'], value['revision']].every((each) => typeof each === 'string')
  )
}
