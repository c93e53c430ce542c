/**
 * The light or dark theme. It follows the system until the user chooses one, which is then stored.
 *
 * @see https://developer.mozilla.org/docs/Web/CSS/color-scheme
 */

import { readStored, writeStored } from './storage.ts'

const STORAGE_KEY = 'theme'

/** Matches while the system has the dark theme. */
export const systemDark: MediaQueryList = matchMedia('(prefers-color-scheme: dark)')

/** Whether the page is dark. */
export function isDark(): boolean {
  const choice = readStored(STORAGE_KEY)
  return choice === null ? systemDark.matches : choice === 'dark'
}

/** Stores the other theme as the user's choice. */
export function switchTheme(): void {
  writeStored(STORAGE_KEY, isDark() ? 'light' : 'dark')
}

/** Shows the page in the theme that the user has chosen. Otherwise, the styles follow the system. */
export function applyTheme(): void {
  const choice = readStored(STORAGE_KEY)
  if (choice !== null) document.documentElement.dataset['theme'] = choice
}
