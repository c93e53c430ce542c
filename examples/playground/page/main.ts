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

/** The name of the application's file, which the build inserts. */
declare const APP_FILE: string

let isStarted = false

/** Loads the styles of the application, and runs it. Only the first call has an effect. */
function start(): void {
  if (isStarted) return
  isStarted = true
  addLink('modulepreload', APP_FILE)
  const styles = addLink('stylesheet', 'styles.css')
  // The application draws nothing before its styles apply
  styles.onload = styles.onerror = () => void import('./app.ts')
}

function addLink(rel: string, href: string): HTMLLinkElement {
  const link = document.createElement('link')
  document.head.append(Object.assign(link, { rel, href }))
  return link
}

applyTheme()
const layout = storedLayout()
if (layout) showLayout(layout)
new PerformanceObserver((paints) => {
  // Before it, the background may be painted
  if (paints.getEntriesByName('first-contentful-paint').length > 0) start()
}).observe({ type: 'paint' })
// A page in the background is not painted
setTimeout(start, document.hidden ? 0 : PATIENCE_MS)
