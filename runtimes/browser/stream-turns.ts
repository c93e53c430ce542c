/**
 * Limits listening streams. Over HTTP/1.1 browsers have six connections to a server, for all tabs
 * together, so that as many open streams would block every other request in all of them.
 *
 * @see https://www.w3.org/TR/web-locks/
 */
import { askForTurn } from './turn-channel.ts'

/** The maximum number of open streams of an origin's pages to one server. */
const MAX_STREAMS = 4

/**
 * Waits until the number of open streams is below the limit, or the signal fires.
 *
 * @param onTurn Called with whether it waits; not called if a slot is free.
 * @returns A function that frees the slot; `undefined` if none was taken.
 */
export async function takeTurn(
  url: string,
  signal: AbortSignal,
  onTurn?: (isWaiting: boolean) => void,
): Promise<(() => void) | undefined> {
  const { origin } = new URL(url)
  if (!navigator.locks) return askForTurn(`edgewise ${origin}`, MAX_STREAMS, signal, onTurn)
  const controller = new AbortController()
  const waiting = AbortSignal.any([signal, controller.signal])
  const turn = new Promise<(() => void) | undefined>((resolve) => {
    const hold = (): Promise<void> | undefined => {
      if (waiting.aborted) return undefined
      controller.abort()
      return new Promise((end) => resolve(end))
    }
    for (let turn = 0; turn < MAX_STREAMS; turn++) {
      const name = `edgewise ${origin} ${turn}`
      // Without permission to use locks, the limit is not enforced
      navigator.locks.request(name, { signal: waiting }, hold).catch(() => resolve(undefined))
    }
  })
  if (!onTurn) return turn
  // Resolves after free locks were granted
  await navigator.locks.query().catch(() => {})
  if (waiting.aborted) return turn
  onTurn(true)
  return turn.finally(() => onTurn(false))
}

/** Calls `over` when the body of a response ends, in any way. */
export function untilOver(response: Response, over: () => void): Response {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const { body } = response
  Promise.resolve(body?.pipeTo(writable)).then(over, over)
  return body ? new Response(readable, response) : response
}
