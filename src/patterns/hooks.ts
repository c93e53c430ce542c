/**
 * Calls functions of the application whose result is not needed: hooks, listeners, callbacks.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
 */

/**
 * Calls an application hook. Exceptions and rejections are passed to `report`, so that they affect
 * neither the caller nor the process.
 *
 * @param run Calls the hook, synchronously, with its arguments.
 * @param report Must not throw. Default: `console.error`.
 */
export function callHook(
  run: () => unknown,
  report: (error: unknown) => void = console.error,
): void {
  // An async function turns exceptions into rejections
  const runAsync = async (): Promise<unknown> => run()
  runAsync().catch(report)
}

/** Pass this as `report` if the hook is `onError` itself: its failure cannot be reported anywhere. */
export function ignore(): void {}
