/**
 * Keeps suspended input requests from ending the process.
 *
 * A handler may start several input requests together and await them one by one. The first without a
 * response ends the run, and the others become unhandled rejections, which are not errors.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */

/** Ignores suspended input requests; every other unhandled rejection keeps its default behavior. */
export function allowSuspensions(): void {
  // Adding the same listener again has no effect
  globalThis.addEventListener('unhandledrejection', onUnhandled)
}

function onUnhandled(event: PromiseRejectionEvent): void {
  const reason: unknown = event.reason
  if (reason instanceof Error && reason.name === 'InputPending') event.preventDefault()
}
