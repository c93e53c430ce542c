/**
 * Detects that the peer has ended: by heartbeats, or by a lock, which the browser releases when the peer ends for any
 * reason.
 *
 * @see https://w3c.github.io/web-locks/
 */
import { unref } from '../../patterns/timers.ts'

/**
 * Holds a lock for as long as this end is alive.
 *
 * @param signal Releases the lock when it aborts.
 * @returns Whether the lock is held. `false` if the platform has no locks, as in opaque origins.
 */
export function holdLock(name: string, signal: AbortSignal): Promise<boolean> {
  const locks = findLocks()
  if (!locks || signal.aborted) return Promise.resolve(false)
  return new Promise((resolve) => {
    const hold = (): Promise<void> => {
      resolve(true)
      return new Promise((release) => {
        // The signal may have aborted after the lock was granted, but before this callback
        if (signal.aborted) release()
        signal.addEventListener('abort', () => release(), { once: true })
      })
    }
    locks.request(name, { signal }, hold).catch(() => resolve(false))
  })
}

/**
 * Waits until the holder of a lock ends.
 *
 * @param signal Stops waiting when it aborts.
 * @returns Whether the lock can be watched. `false` if no lock with this name is held in this origin, for example
 *   because the peer has another origin.
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

/** Detects that a peer has sent no messages for too long. */
export class Heartbeat {
  readonly #periodMs: number
  readonly #ping: () => void
  readonly #onSilence: () => void
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Whether a message has arrived in the current period. */
  #hasReceived = true
  /** Whether the peer was pinged since its last message. */
  #hasPinged = false

  /**
   * @param silenceMs How long the peer may be silent, in milliseconds. The peer is pinged after half of that time.
   */
  constructor(silenceMs: number, ping: () => void, onSilence: () => void) {
    this.#periodMs = silenceMs / 2
    this.#ping = ping
    this.#onSilence = onSilence
  }

  start(): void {
    const dueAt = performance.now() + this.#periodMs
    this.#timer = setTimeout(() => this.#checkSilence(performance.now() - dueAt), this.#periodMs)
    // On Node, the timer would keep the process alive
    unref(this.#timer)
  }

  /** Records a message of the peer. */
  noteMessage(): void {
    this.#hasReceived = true
    this.#hasPinged = false
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #checkSilence(lateMs: number): void {
    // If the timer is late by a whole period, the process was suspended, and replies may be waiting unread
    const wasSuspended = lateMs > this.#periodMs
    if (!this.#hasReceived && this.#hasPinged && !wasSuspended) return this.#onSilence()
    if (!this.#hasReceived) {
      this.#hasPinged = true
      this.#ping()
    }
    this.#hasReceived = false
    this.start()
  }
}
