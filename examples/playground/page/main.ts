/**
 * Prepares the first paint, and loads the application after it. The browser paints `index.html` only after this
 * script has run, so the script is small.
 *
 * @see https://developer.mozilla.org/docs/Web/HTML/Reference/Elements/script#blocking
 */
import { applyTheme } from './theme-choice.ts'
import { showLayout, storedLayout } from './timeline/layout.ts'

/** Downloads the application, but does not run it. */
function preload(): void {
  const link = document.createElement('link')
  link.rel = 'modulepreload'
  link.href = 'app.js'
  document.head.append(link)
}

/** Resolves after the next paint. A page in the background is not painted. */
function painted(): Promise<void> {
  if (document.hidden) return Promise.resolve()
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
}

applyTheme()
showLayout(storedLayout())
preload()
await painted()
await import('./app.ts')
