/**
 * Limits the number of listening streams. Over HTTP/1.1, a browser has six connections to a server, for all
 * tabs together. Six open streams would block every other request in every tab.
 *
 * @see https://www.w3.org/TR/web-locks/
 */
import { acquireSlot } from './slot-channel.ts'

/** How many streams to one server may be open at the same time, in all pages of an origin together. */
const MAX_STREAMS = 4

/** The lock that all hidden pages with a slot share, so that visible pages can find them. */
const HIDDEN_LOCK = 'edgewise hidden'

/** A function that ends something, such as the use of a slot. */
type End = () => void

/**
 * Sends a request for a stream when one of the slots is free. If none is free, a visible page takes the slot
 * of a hidden page, which then closes its stream.
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
    const slotLost = new AbortController()
    const freeSlot = await acquireStreamSlot(url, signal, () => slotLost.abort(), onWait)
    try {
      signal.throwIfAborted()
      const response = await send(AbortSignal.any([signal, slotLost.signal]))
      return freeSlot ? onBodyEnd(response, freeSlot) : response
    } catch (cause) {
      freeSlot?.()
      if (signal.aborted || !slotLost.signal.aborted) throw cause
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
 * Waits for one of the slots until the signal aborts, and takes the slot.
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
  const slotAcquired = new AbortController()
  const waitSignal = AbortSignal.any([signal, slotAcquired.signal])
  let resolve = (_freeSlot?: End): void => {}
  const acquired = new Promise<End | undefined>((settle) => (resolve = settle))

  /** Takes a slot as soon as it is free, or at once by stealing it. */
  function take(slot: string, options: LockOptions): void {
    let isHeld = false
    const hold = (): Promise<void> | undefined => {
      if (waitSignal.aborted) return undefined
      isHeld = true
      slotAcquired.abort()
      const unmark = markWhileHidden()
      return new Promise((release) =>
        resolve(() => {
          unmark()
          release()
        }),
      )
    }
    // The request is rejected if another page steals the slot, if the wait ends, or if this page may not use
    // locks. In the last case the limit is not enforced. Once a slot is taken, `resolve` has no effect
    locks.request(slot, options, hold).catch(() => (isHeld ? onLost() : resolve()))
  }

  /** Takes the slot of a hidden page, if this page is visible. */
  async function takeFromHidden(): Promise<void> {
    const { held = [] } = await locks.query()
    if (waitSignal.aborted || globalThis.document?.visibilityState !== 'visible') return
    const hiddenPages = held
      .filter((lock) => lock.name === HIDDEN_LOCK)
      .map(({ clientId }) => clientId)
    const hiddenSlot = held.find(
      (lock) => lock.name?.startsWith(`${name} `) && hiddenPages.includes(lock.clientId),
    )
    if (!hiddenSlot?.name) return
    take(hiddenSlot.name, { steal: true })
    // The browser grants the stolen lock before it answers this query
    await locks.query()
  }

  for (let slot = 0; slot < MAX_STREAMS; slot++) take(`${name} ${slot}`, { signal: waitSignal })
  // This call queries the locks. Before the browser answers the query, it grants any free lock that was
  // requested above, which ends the wait
  await takeFromHidden().catch(() => {})
  if (waitSignal.aborted) return acquired
  const onShow = (): void => void takeFromHidden().catch(() => {})
  globalThis.document?.addEventListener('visibilitychange', onShow, { signal: waitSignal })
  onWait?.(true)
  return acquired.finally(() => onWait?.(false))
}

/** Lets other pages know whenever this page is hidden. */
function markWhileHidden(): End {
  const { document } = globalThis
  // A worker does not know whether its page is hidden
  if (!document) return () => {}
  let unmark = (): void => {}
  function update(): void {
    unmark()
    if (document.visibilityState === 'visible') return
    const marked = new Promise<void>((resolve) => (unmark = resolve))
    void navigator.locks.request(HIDDEN_LOCK, { mode: 'shared' }, () => marked)
  }
  document.addEventListener('visibilitychange', update)
  update()
  return () => {
    document.removeEventListener('visibilitychange', update)
    unmark()
  }
}
