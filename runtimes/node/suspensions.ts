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
  const listeners = process.listeners('unhandledRejection')
  if (!listeners.includes(onUnhandled)) process.on('unhandledRejection', onUnhandled)
}

function onUnhandled(reason: unknown): void {
  if (reason instanceof Error && reason.name === 'InputPending') return
  // Node and Bun end the process only if there is no other listener
  if (process.listenerCount('unhandledRejection') === 1) throw reason
}
