/**
 * Finding out that the other side is gone: by a lock that the browser takes from it in whatever way
 * it ends, or by asking for signs of life.
 *
 * @see https://w3c.github.io/web-locks/
 */
import { unref } from '../../patterns/timers.ts'

/**
 * Holds a lock for as long as this side lives.
 *
 * @param signal Lets go of it.
 * @returns Whether it is held; not where there are no locks, as in opaque origins.
 */
export function holdLock(name: string, signal: AbortSignal): Promise<boolean> {
  const locks = findLocks()
  if (!locks || signal.aborted) return Promise.resolve(false)
  return new Promise((resolve) => {
    const hold = (): Promise<void> => {
      resolve(true)
      return new Promise((release) => {
        // It may have fired after the lock was given, but before this was called
        if (signal.aborted) release()
        signal.addEventListener('abort', () => release(), { once: true })
      })
    }
    locks.request(name, { signal }, hold).catch(() => resolve(false))
  })
}

/**
 * Waits for the end of who holds a lock.
 *
 * @param signal Stops waiting.
 * @returns Whether the lock can be seen from here; not when it is held in another origin.
 */
export async function watchLock(
  name: string,
  signal: AbortSignal,
  onReleased: () => void,
): Promise<boolean> {
  const locks = findLocks()
  try {
    const { held = [] } = (await locks?.query()) ?? {}
    if (!locks || !held.some((lock) => lock.name === name)) return false
    locks.request(name, { signal }, onReleased).catch(() => {})
    return true
  } catch {
    return false
  }
}

function findLocks(): LockManager | undefined {
  // Absent in Node before 24 and in insecure contexts
  const { navigator } = globalThis as { navigator?: { locks?: LockManager } }
  return navigator?.locks
}

/** Looks after a peer that only its messages tell of. */
export class Heartbeat {
  readonly #periodMs: number
  readonly #ask: () => void
  readonly #onSilence: () => void
  #timer: ReturnType<typeof setTimeout> | undefined
  #heard = true
  #asked = false

  /**
   * @param silenceMs How long the peer may say nothing, in milliseconds. Half of it without a word,
   *   and it is asked.
   */
  constructor(silenceMs: number, ask: () => void, onSilence: () => void) {
    this.#periodMs = silenceMs / 2
    this.#ask = ask
    this.#onSilence = onSilence
  }

  start(): void {
    const due = performance.now() + this.#periodMs
    this.#timer = setTimeout(() => this.#look(performance.now() - due), this.#periodMs)
    // On Node a timer would keep a program from its end that has nothing else to do
    unref(this.#timer)
  }

  /** The peer said something. */
  heard(): void {
    this.#heard = true
    this.#asked = false
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #look(lateMs: number): void {
    // This side was asleep itself, and may have all the answers waiting
    const slept = lateMs > this.#periodMs
    if (!this.#heard && this.#asked && !slept) return this.#onSilence()
    if (!this.#heard) {
      this.#asked = true
      this.#ask()
    }
    this.#heard = false
    this.start()
  }
}
