/**
 * Calling functions of the application that nothing waits for: hooks, listeners, callbacks.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
 */

/**
 * Calls a hook of the application. What it throws, or what a promise that it returns rejects with, is
 * passed to `report`, and breaks neither its caller nor the process.
 *
 * @param run Calls the hook, at once, with its arguments.
 * @param report Must not throw. Default: `console.error`.
 */
export function callHook(
  run: () => unknown,
  report: (error: unknown) => void = console.error,
): void {
  // Async functions reject with what they throw
  const called = async (): Promise<unknown> => run()
  called().catch(report)
}

/** A `report` for `onError` hooks themselves, whose failures cannot be reported anywhere. */
export function ignore(): void {}
