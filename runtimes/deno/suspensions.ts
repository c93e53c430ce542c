/**
 * Requests for input that are started together while the handler awaits them one by one: the first
 * without a response ends the run, and the others become unhandled rejections. These are not
 * errors, and must not end the process.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */

/** Ignores suspended requests; every other unhandled rejection keeps its default behavior. */
export function allowSuspensions(): void {
  // Adding the same listener again has no effect
  globalThis.addEventListener('unhandledrejection', onUnhandled)
}

function onUnhandled(event: PromiseRejectionEvent): void {
  const reason: unknown = event.reason
  if (reason instanceof Error && reason.name === 'InputPending') event.preventDefault()
}
