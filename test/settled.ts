import { setImmediate } from 'node:timers/promises'

/** Operations of Web Crypto that have not ended: they run in threads, beside the event loop. */
const operations = new Set<Promise<unknown>>()

for (const [name, { value }] of Object.entries(
  Object.getOwnPropertyDescriptors(SubtleCrypto.prototype),
)) {
  if (typeof value !== 'function' || name === 'constructor') continue
  const counted = new Proxy(value, {
    apply(operation, subtle, args) {
      const ended: Promise<unknown> = Reflect.apply(operation, subtle, args)
      operations.add(ended)
      const forget = (): void => void operations.delete(ended)
      ended.then(forget, forget)
      return ended
    },
  })
  Object.defineProperty(crypto.subtle, name, { value: counted, writable: true, configurable: true })
}

/**
 * Lets everything happen that is due, and what comes of it: by many turns of the event loop, each after
 * the Web Crypto operations under way.
 */
export async function settled(turns = 100): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    if (operations.size > 0) await Promise.allSettled(operations)
    await setImmediate()
  }
}
