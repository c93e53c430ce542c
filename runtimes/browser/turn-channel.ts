/**
 * Turns of pages without Web Locks, such as all insecure pages: a page that has a turn answers when
 * another page asks.
 *
 * @see https://html.spec.whatwg.org/multipage/web-messaging.html#broadcasting-to-other-browsing-contexts
 */

/** How long other pages may take to answer, in milliseconds. */
const ANSWER_MS = 200
/** How often a page asks again, in milliseconds, as a page that has a turn may crash. */
const ASK_AGAIN_MS = 5_000

/** The messages between pages. */
type TurnMessage =
  /** Asks which pages have a turn. If several ask at once, the lowest number goes first. */
  | { readonly asks: number }
  /** Answers the page that asked: the sender has a turn, or goes first. */
  | { readonly answers: number }
  /** A turn has ended. */
  | { readonly ended: true }

/**
 * Waits for one of `maxTurns` turns. A page that is too busy to answer is not counted, so
 * for a while there may be one turn more.
 *
 * @param onTurn Called with whether it waits; not called where a turn is free.
 * @returns A function that ends the turn; `undefined` where the signal fired first.
 */
export async function askForTurn(
  name: string,
  maxTurns: number,
  signal: AbortSignal,
  onTurn?: (isWaiting: boolean) => void,
): Promise<(() => void) | undefined> {
  const channel = new BroadcastChannel(name)
  const post = (message: TurnMessage): void => channel.postMessage(message)
  const id = Math.random()
  let state: 'asking' | 'waiting' | 'holding' = 'asking'
  let holders = 0
  let wake = (): void => {}
  const pause = (delayMs: number): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve
      setTimeout(resolve, delayMs)
    })
  channel.onmessage = ({ data }: MessageEvent<TurnMessage>) => {
    if ('ended' in data) {
      if (state === 'waiting') wake()
    } else if ('answers' in data) {
      if (data.answers === id) holders++
    } else if (state === 'holding' || (state === 'asking' && id < data.asks)) {
      post({ answers: data.asks })
    }
  }
  signal.addEventListener('abort', () => wake(), { once: true })
  let waited = false
  while (!signal.aborted) {
    state = 'asking'
    holders = 0
    post({ asks: id })
    await pause(ANSWER_MS)
    if (signal.aborted) break
    if (holders < maxTurns) {
      state = 'holding'
      if (waited) onTurn?.(false)
      return () => {
        post({ ended: true })
        channel.close()
      }
    }
    state = 'waiting'
    if (!waited) onTurn?.(true)
    waited = true
    await pause(ASK_AGAIN_MS)
  }
  channel.close()
  if (waited) onTurn?.(false)
  return undefined
}
