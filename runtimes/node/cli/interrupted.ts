/**
 * Programs that go on until somebody wants them to end.
 */

/** Resolves at the first SIGINT or SIGTERM; the second ends the program at once. */
export function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      process.off('SIGINT', end).off('SIGTERM', end)
      resolve()
    }
    process.on('SIGINT', end).on('SIGTERM', end)
  })
}
