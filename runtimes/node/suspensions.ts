/**
 * Requests for input that are started together while the handler awaits them one by one: the first
 * without a response ends the run, and the others become unhandled rejections. These are not
 * errors, and must not end the process.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */

/** Ignores suspended requests; every other unhandled rejection keeps its default behavior. */
export function allowSuspensions(): void {
  const others = process.listeners('unhandledRejection')
  if (!others.includes(onUnhandled)) process.on('unhandledRejection', onUnhandled)
}

function onUnhandled(reason: unknown): void {
  if (reason instanceof Error && reason.name === 'InputPending') return
  // Node and Bun end the process only if there is no other listener
  if (process.listenerCount('unhandledRejection') === 1) throw reason
}
