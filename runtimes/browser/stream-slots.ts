/**
 * Limits listening streams. Over HTTP/1.1, a browser has six connections to a server, for all tabs
 * together. Six open streams would block every other request in every tab.
 *
 * @see https://www.w3.org/TR/web-locks/
 */
import { acquireSlot } from './slot-channel.ts'

/** The maximum number of open streams of an origin's pages to one server. */
const MAX_STREAMS = 4

/** The lock that hidden pages with a slot share, by which visible pages find them. */
const HIDDEN = 'edgewise hidden'

/** Ends something that lasts. */
type End = () => void

/**
 * Sends a request for a stream when one of the slots is free. A visible page takes the slot of a hidden page
 * instead, if there is one. The hidden page then closes its stream.
 *
 * @param send Sends the request, and closes the stream when the signal aborts.
 * @param onWait Called with `true` when the wait for a slot starts and with `false` when it ends. Not called
 *   if a slot is free.
 */
export async function sendInSlot(
  url: string,
  signal: AbortSignal,
  send: (signal: AbortSignal) => Promise<Response>,
  onWait?: (isWaiting: boolean) => void,
): Promise<Response> {
  for (;;) {
    const lost = new AbortController()
    const free = await acquireStreamSlot(url, signal, () => lost.abort(), onWait)
    try {
      signal.throwIfAborted()
      const response = await send(AbortSignal.any([signal, lost.signal]))
      return free ? onBodyEnd(response, free) : response
    } catch (cause) {
      free?.()
      if (signal.aborted || !lost.signal.aborted) throw cause
      // Another page has taken the slot before this page received anything
    }
  }
}

/** Calls `onEnd` when the body of a response is complete, cancelled or broken. */
function onBodyEnd(response: Response, onEnd: End): Response {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const { body } = response
  Promise.resolve(body?.pipeTo(writable)).then(onEnd, onEnd)
  return body ? new Response(readable, response) : response
}

/**
 * Takes one of the slots. Waits for it until the signal aborts.
 *
 * @param onLost Called when another page has taken the slot.
 * @returns A function that frees the slot; `undefined` if no slot was taken.
 */
async function acquireStreamSlot(
  url: string,
  signal: AbortSignal,
  onLost: () => void,
  onWait?: (isWaiting: boolean) => void,
): Promise<End | undefined> {
  const { locks } = navigator
  const name = `edgewise ${new URL(url).origin}`
  if (!locks) return acquireSlot(name, MAX_STREAMS, signal, onWait)
  const slotTaken = new AbortController()
  const waitSignal = AbortSignal.any([signal, slotTaken.signal])
  let resolve = (_free?: End): void => {}
  const acquired = new Promise<End | undefined>((settle) => (resolve = settle))

  /** Takes a slot as soon as it is free, or at once by stealing it. */
  function take(slot: string, options: LockOptions): void {
    let isMine = false
    const hold = (): Promise<void> | undefined => {
      if (waitSignal.aborted) return undefined
      isMine = true
      slotTaken.abort()
      const unmark = markWhileHidden()
      return new Promise((release) =>
        resolve(() => {
          unmark()
          release()
        }),
      )
    }
    // Rejects when the wait ends, which changes nothing once a slot is taken. Also rejects without
    // permission to use locks: then the limit is not enforced
    locks.request(slot, options, hold).catch(() => (isMine ? onLost() : resolve()))
  }

  /** Takes the slot of a hidden page, if this page is visible. */
  async function takeFromHidden(): Promise<void> {
    const { held = [] } = await locks.query()
    if (waitSignal.aborted || globalThis.document?.visibilityState !== 'visible') return
    const hidden = held.filter((lock) => lock.name === HIDDEN).map(({ clientId }) => clientId)
    const taken = held.find(
      (lock) => lock.name?.startsWith(`${name} `) && hidden.includes(lock.clientId),
    )
    if (!taken?.name) return
    take(taken.name, { steal: true })
    // The browser grants the lock before it answers
    await locks.query()
  }

  for (let slot = 0; slot < MAX_STREAMS; slot++) take(`${name} ${slot}`, { signal: waitSignal })
  // Before it answers, the browser grants any free lock, which ends the wait
  await takeFromHidden().catch(() => {})
  if (waitSignal.aborted) return acquired
  const onShow = (): void => void takeFromHidden().catch(() => {})
  globalThis.document?.addEventListener('visibilitychange', onShow, { signal: waitSignal })
  onWait?.(true)
  return acquired.finally(() => onWait?.(false))
}

/** Marks this page for others whenever it is hidden. */
function markWhileHidden(): End {
  const { document } = globalThis
  // A worker does not know whether its page is hidden
  if (!document) return () => {}
  let unmark = (): void => {}
  function update(): void {
    unmark()
    if (document.visibilityState === 'visible') return
    const marked = new Promise<void>((resolve) => (unmark = resolve))
    void navigator.locks.request(HIDDEN, { mode: 'shared' }, () => marked)
  }
  document.addEventListener('visibilitychange', update)
  update()
  return () => {
    document.removeEventListener('visibilitychange', update)
    unmark()
  }
}
