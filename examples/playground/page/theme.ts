/**
 * The light or dark theme. It follows the system until the user chooses one, which is then stored.
 *
 * @see https://developer.mozilla.org/docs/Web/CSS/color-scheme
 */
import { icon } from './icon.ts'

const STORAGE_KEY = 'theme'

/** Sets up the button that switches between the themes. */
export function setUpTheme(button: HTMLButtonElement): void {
  const system = matchMedia('(prefers-color-scheme: dark)')
  const isDark = (): boolean =>
    (localStorage.getItem(STORAGE_KEY) ?? (system.matches ? 'dark' : '')) === 'dark'

  function apply(): void {
    const [theme, other] = isDark() ? ['dark', 'light'] : ['light', 'dark']
    document.documentElement.dataset['theme'] = theme
    button.ariaLabel = button.title = `Switch to the ${other} theme`
    button.replaceChildren(icon(isDark() ? 'sun' : 'moon'))
  }

  button.addEventListener('click', () => {
    localStorage.setItem(STORAGE_KEY, isDark() ? 'light' : 'dark')
    apply()
  })
  system.addEventListener('change', apply)
  apply()
}
