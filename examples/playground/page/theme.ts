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
    const [other, glyph] = isDark() ? (['light', 'sun'] as const) : (['dark', 'moon'] as const)
    applyTheme()
    button.ariaLabel = button.title = `Switch to the ${other} theme`
    button.replaceChildren(icon(glyph))
  }

  button.addEventListener('click', () => {
    switchTheme()
    apply()
  })
  systemDark.addEventListener('change', apply)
  apply()
}
