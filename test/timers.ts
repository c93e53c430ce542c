// Test files may share one module graph: timers that a file leaves behind end with it, its fake clock too.
import { afterAll, vi } from 'vitest'

const { setTimeout, setInterval, clearTimeout } = globalThis
const timers: NodeJS.Timeout[] = []

globalThis.setTimeout = remembering(setTimeout)
globalThis.setInterval = remembering(setInterval)

afterAll(() => {
  vi.useRealTimers()
  Object.assign(globalThis, { setTimeout, setInterval })
  for (const timer of timers) clearTimeout(timer)
})

/** The function, whose timers are cleared when the test file has ended. */
function remembering<T extends typeof setTimeout | typeof setInterval>(start: T): T {
  return new Proxy(start, {
    apply(target, self, args) {
      const timer: NodeJS.Timeout = Reflect.apply(target, self, args)
      timers.push(timer)
      return timer
    },
  })
}
