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
  const listeners = process.listeners('unhandledRejection')
  if (!listeners.includes(onUnhandled)) process.on('unhandledRejection', onUnhandled)
}

function onUnhandled(reason: unknown): void {
  // `InputPending` is the error that suspends a handler
  if (reason instanceof Error && reason.name === 'InputPending') return
  // If this is the only listener, the rejection ends the process, as it would without any listener
  if (process.listenerCount('unhandledRejection') === 1) throw reason
}
