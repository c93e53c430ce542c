/**
 * What the browser stores for this page. If it stores nothing, because that is disabled or there is no room, the
 * values last until the page is closed.
 *
 * @see https://developer.mozilla.org/docs/Web/API/Web_Storage_API/Using_the_Web_Storage_API
 */

/** Where a value is stored: in this browser, or until the browser tab is closed. */
export type StorageArea = 'localStorage' | 'sessionStorage'

/** The values that the browser did not store. */
const unstored = new Map<string, string>()

/** Returns a stored value; `null` if there is none. */
export function readStored(key: string, area: StorageArea = 'localStorage'): string | null {
  try {
    return unstored.get(area + key) ?? globalThis[area].getItem(key)
  } catch {
    return null
  }
}

/** Stores a value. Returns whether it lasts longer than the page. */
export function writeStored(
  key: string,
  value: string,
  area: StorageArea = 'localStorage',
): boolean {
  try {
    globalThis[area].setItem(key, value)
    unstored.delete(area + key)
    return true
  } catch {
    unstored.set(area + key, value)
    return false
  }
}
