/**
 * Prevents suspended handlers from ending the process.
 *
 * A handler may start several input requests together and await them one by one. The first request
 * without a response suspends the handler, which runs again when the response has arrived. The promises of
 * the other requests then become unhandled rejections, although nothing has failed.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */

/** Ignores the rejections of suspended handlers. All other unhandled rejections keep their default behavior. */
export function ignoreSuspensionRejections(): void {
  // Adding the same listener again has no effect
  globalThis.addEventListener('unhandledrejection', onUnhandled)
}

function onUnhandled(event: PromiseRejectionEvent): void {
  const reason: unknown = event.reason
  // `InputPending` is the error that suspends a handler
  if (reason instanceof Error && reason.name === 'InputPending') event.preventDefault()
}
