/**
 * Light or dark: the system's choice until the person makes one, which is then remembered.
 *
 * @see https://developer.mozilla.org/docs/Web/CSS/color-scheme
 */
import { icon } from './icon.ts'

const STORAGE_KEY = 'theme'

/** Makes a button switch between the two. */
export function setUpTheme(button: HTMLButtonElement): void {
  const system = matchMedia('(prefers-color-scheme: dark)')
  const chosen = (): string | null => localStorage.getItem(STORAGE_KEY)

  function apply(): void {
    const theme = chosen() ?? (system.matches ? 'dark' : 'light')
    document.documentElement.dataset['theme'] = theme
    const [other, glyph] =
      theme === 'dark' ? (['light', 'sun'] as const) : (['dark', 'moon'] as const)
    button.ariaLabel = button.title = `Switch to the ${other} theme`
    button.replaceChildren(icon(glyph))
  }

  button.addEventListener('click', () => {
    const isDark = document.documentElement.dataset['theme'] === 'dark'
    localStorage.setItem(STORAGE_KEY, isDark ? 'light' : 'dark')
    apply()
  })
  system.addEventListener('change', apply)
  apply()
}
