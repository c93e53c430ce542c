/**
 * The button that switches between the light and the dark theme.
 *
 * @see https://developer.mozilla.org/docs/Web/CSS/color-scheme
 */
import { icon } from './icon.ts'
import { applyTheme, isDark, switchTheme, systemDark } from './theme-choice.ts'

/** Sets up the button. */
export function setUpTheme(button: HTMLButtonElement): void {
  function apply(): void {
    applyTheme()
    button.ariaLabel = button.title = `Switch to the ${isDark() ? 'light' : 'dark'} theme`
    button.replaceChildren(icon(isDark() ? 'sun' : 'moon'))
  }

  button.addEventListener('click', () => {
    switchTheme()
    apply()
  })
  systemDark.addEventListener('change', apply)
  apply()
}
