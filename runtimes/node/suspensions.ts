/**
 * Questions that are asked together, when the handler waits for them one by one: the first that has
 * no answer yet ends the run, and the others are rejections that nobody handles. They are no fault,
 * and must not end the program.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */

/** Leaves suspended questions alone; every other unhandled rejection does what it always does. */
export function allowSuspensions(): void {
  const others = process.listeners('unhandledRejection')
  if (!others.includes(onUnhandled)) process.on('unhandledRejection', onUnhandled)
}

function onUnhandled(reason: unknown): void {
  if (reason instanceof Error && reason.name === 'InputPending') return
  // Node and Bun end the program only while nobody listens
  if (process.listenerCount('unhandledRejection') === 1) throw reason
}
