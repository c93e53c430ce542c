/**
 * Stores the names and addresses of servers in this browser, without secrets.
 *
 * @see https://developer.mozilla.org/docs/Web/API/Window/localStorage
 */
import { isObject } from 'edgewise/browser'
import { readStored, writeStored } from '../storage.ts'

/** A saved server. */
export interface SavedServer {
  name: string
  url: string
  /** The revision to use, or `auto`. */
  revision: string
}

const KEY = 'servers'

/** Returns the saved servers, in the order in which they were saved. */
export function savedServers(): SavedServer[] {
  try {
    const stored: unknown = JSON.parse(readStored(KEY) ?? '')
    return Array.isArray(stored) ? stored.filter(isSaved) : []
  } catch {
    return []
  }
}

/** Replaces the saved servers. Returns whether they last longer than the page. */
export function saveServers(servers: readonly SavedServer[]): boolean {
  return writeStored(KEY, JSON.stringify(servers))
}

function isSaved(value: unknown): value is SavedServer {
  return (
    isObject(value) &&
    [value['name'], value['url'], value['revision']].every((each) => typeof each === 'string')
  )
}
