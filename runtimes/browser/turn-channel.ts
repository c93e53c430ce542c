/**
 * Turns of pages without Web Locks, which insecure pages do not have: who has a turn says so when
 * another page asks.
 *
 * @see https://html.spec.whatwg.org/multipage/web-messaging.html#broadcasting-to-other-browsing-contexts
 */

/** How long other pages may take to answer, in milliseconds. */
const ANSWER_MS = 200
/** How often a page asks again, in milliseconds, as one that has a turn may end without a word. */
const ASK_AGAIN_MS = 5_000

/** What pages say to each other. */
type TurnMessage =
  /** Asks who has a turn. Of several that ask at a time the lower number goes first. */
  | { readonly asks: number }
  /** Says to the one that asked that another has a turn, or goes first. */
  | { readonly answers: number }
  /** Says that a turn has ended. */
  | { readonly ended: true }

/**
 * Waits for one of so many turns. A page that is too busy to answer is not counted, so that there may
 * be a turn too many for a while.
 *
 * @param onTurn Learns whether it waits: nothing where there is a turn at once.
 * @returns Ends the turn; nothing where the signal fired first.
 */
export async function askForTurn(
  name: string,
  maxTurns: number,
  signal: AbortSignal,
  onTurn?: (isWaiting: boolean) => void,
): Promise<(() => void) | undefined> {
  const channel = new BroadcastChannel(name)
  const say = (message: TurnMessage): void => channel.postMessage(message)
  const id = Math.random()
  let state: 'asking' | 'waiting' | 'holding' = 'asking'
  let others = 0
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
      if (data.answers === id) others++
    } else if (state === 'holding' || (state === 'asking' && id < data.asks)) {
      say({ answers: data.asks })
    }
  }
  signal.addEventListener('abort', () => wake(), { once: true })
  let waited = false
  while (!signal.aborted) {
    state = 'asking'
    others = 0
    say({ asks: id })
    await pause(ANSWER_MS)
    if (signal.aborted) break
    if (others < maxTurns) {
      state = 'holding'
      if (waited) onTurn?.(false)
      return () => {
        say({ ended: true })
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
