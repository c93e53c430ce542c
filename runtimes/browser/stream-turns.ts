/**
 * Turns at listening. Over HTTP/1.1 browsers have six connections to a server, for all tabs together,
 * so that as many open streams would leave none to connect or call with, in any of them.
 *
 * @see https://www.w3.org/TR/web-locks/
 */
import { askForTurn } from './turn-channel.ts'

/** How many streams of an origin's pages may be open to one server at a time. */
const MAX_STREAMS = 4

/**
 * Waits until fewer streams are open than may be, or the signal fires.
 *
 * @param onTurn Called with whether it waits; not called where a turn is free.
 * @returns Ends the turn; nothing where no turn was taken.
 */
export async function takeTurn(
  url: string,
  signal: AbortSignal,
  onTurn?: (isWaiting: boolean) => void,
): Promise<(() => void) | undefined> {
  const { origin } = new URL(url)
  if (!navigator.locks) return askForTurn(`edgewise ${origin}`, MAX_STREAMS, signal, onTurn)
  const taken = new AbortController()
  const waiting = AbortSignal.any([signal, taken.signal])
  const turn = new Promise<(() => void) | undefined>((resolve) => {
    const hold = (): Promise<void> | undefined => {
      if (waiting.aborted) return undefined
      taken.abort()
      return new Promise((end) => resolve(end))
    }
    for (let turn = 0; turn < MAX_STREAMS; turn++) {
      const name = `edgewise ${origin} ${turn}`
      // Where there may be no locks, nobody waits
      navigator.locks.request(name, { signal: waiting }, hold).catch(() => resolve(undefined))
    }
  })
  if (!onTurn) return turn
  // Resolves after the locks that are free were granted
  await navigator.locks.query().catch(() => {})
  if (waiting.aborted) return turn
  onTurn(true)
  return turn.finally(() => onTurn(false))
}

/** A response that tells when its body is over, however it ends. */
export function untilOver(response: Response, over: () => void): Response {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const { body } = response
  Promise.resolve(body?.pipeTo(writable)).then(over, over)
  return body ? new Response(readable, response) : response
}
