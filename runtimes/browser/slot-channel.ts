/**
 * Limits the number of listening streams without Web Locks, because insecure pages do not have them. A page
 * asks all other pages over a broadcast channel whether they have a slot, and each page that has one answers.
 *
 * @see https://html.spec.whatwg.org/multipage/web-messaging.html#broadcasting-to-other-browsing-contexts
 */

/** How long other pages may take to answer, in milliseconds. */
const ANSWER_MS = 200
/**
 * How often a waiting page asks again, in milliseconds. A page that crashes does not announce that its
 * slot is free.
 */
const ASK_AGAIN_MS = 5_000

/** The messages between pages. */
type SlotMessage =
  /**
   * Asks which pages have a slot. The value is a random number that identifies the asking page. If several
   * pages ask at once, the page with the lowest number goes first.
   */
  | { readonly asks: number }
  /** Answers the page with this number that the sender has a slot, or goes first. */
  | { readonly answers: number }
  /** The sender has freed its slot. */
  | { readonly ended: true }

/**
 * Waits for one of `maxSlots` slots. A page that is too busy to answer is not counted, so the limit may be
 * exceeded for a while.
 *
 * @param name The name of the broadcast channel.
 * @param onWait Called with `true` when the wait starts and with `false` when it ends. Not called if a
 *   slot is free.
 * @returns A function that frees the slot; `undefined` if the signal aborted first.
 */
export async function acquireSlot(
  name: string,
  maxSlots: number,
  signal: AbortSignal,
  onWait?: (isWaiting: boolean) => void,
): Promise<(() => void) | undefined> {
  const channel = new BroadcastChannel(name)
  const post = (message: SlotMessage): void => channel.postMessage(message)
  const ownNumber = Math.random()
  let state: 'asking' | 'waiting' | 'holding' = 'asking'
  /** The number of pages that have a slot or go first. */
  let pagesAhead = 0
  let wake = (): void => {}
  const pause = (delayMs: number): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve
      setTimeout(resolve, delayMs)
    })
  channel.onmessage = ({ data }: MessageEvent<SlotMessage>) => {
    if ('ended' in data) {
      if (state === 'waiting') wake()
    } else if ('answers' in data) {
      if (data.answers === ownNumber) pagesAhead++
    } else if (state === 'holding' || (state === 'asking' && ownNumber < data.asks)) {
      post({ answers: data.asks })
    }
  }
  signal.addEventListener('abort', () => wake(), { once: true })
  let hasWaited = false
  while (!signal.aborted) {
    state = 'asking'
    pagesAhead = 0
    post({ asks: ownNumber })
    await pause(ANSWER_MS)
    if (signal.aborted) break
    if (pagesAhead < maxSlots) {
      state = 'holding'
      if (hasWaited) onWait?.(false)
      return () => {
        post({ ended: true })
        channel.close()
      }
    }
    state = 'waiting'
    if (!hasWaited) onWait?.(true)
    hasWaited = true
    await pause(ASK_AGAIN_MS)
  }
  channel.close()
  if (hasWaited) onWait?.(false)
  return undefined
}
