import { setImmediate } from 'node:timers/promises'

/** Lets everything happen that is due, and what comes of it, by many turns of the event loop. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 100; turn++) await setImmediate()
}
