/**
 * Prepares the first paint, and loads the application after it. The build copies this script into the head of
 * `index.html`, where it runs while the page is still being parsed, so that the paint does not wait for it.
 *
 * @see https://developer.mozilla.org/docs/Web/API/PerformancePaintTiming
 */
import { applyTheme } from './theme-choice.ts'
import { showLayout, storedLayout } from './timeline/layout.ts'

/** How long the application waits for a paint that the browser does not report, in milliseconds. */
const PATIENCE_MS = 1_000

/** Runs the application. Only the first call has an effect. */
const start = (): void => void import('./app.ts')

applyTheme()
showLayout(storedLayout())
new PerformanceObserver(start).observe({ type: 'paint' })
// A page in the background is not painted
setTimeout(start, document.hidden ? 0 : PATIENCE_MS)
