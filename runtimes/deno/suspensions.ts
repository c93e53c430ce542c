/**
 * Questions that are asked together, when the handler waits for them one by one: the first that has
 * no answer yet ends the run, and the others are rejections that nobody handles. They are no fault,
 * and must not end the program.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */

/** Leaves suspended questions alone; every other unhandled rejection does what it always does. */
export function allowSuspensions(): void {
  // The same listener is added once only
  globalThis.addEventListener('unhandledrejection', onUnhandled)
}

function onUnhandled(event: PromiseRejectionEvent): void {
  const reason: unknown = event.reason
  if (reason instanceof Error && reason.name === 'InputPending') event.preventDefault()
}
