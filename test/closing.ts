import { onTestFinished } from 'vitest'

/** Has something closed when the test that opened it has ended. */
export function closing<T extends { close(): unknown }>(opened: T): T {
  onTestFinished(async () => {
    await opened.close()
  })
  return opened
}
