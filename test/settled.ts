import { setImmediate } from 'node:timers/promises'

/**
 * Lets everything happen that is due, and what comes of it: by many turns of the event loop, and by work
 * that queues behind the Web Crypto operations under way, which run in threads.
 */
export async function settled(): Promise<void> {
  for (let round = 0; round < 10; round++) {
    await crypto.subtle.digest('SHA-256', new Uint8Array())
    for (let turn = 0; turn < 10; turn++) await setImmediate()
  }
}
