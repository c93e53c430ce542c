/**
 * Long work in short slices, so that the page stays responsive.
 *
 * @see https://web.dev/articles/optimize-long-tasks
 */

/** The maximum duration of a slice, in milliseconds. */
const SLICE_MS = 12

/**
 * Calls a function with every item. Returns whether it has called it with all, which is not so if the signal aborts.
 *
 * @throws {unknown} What the function throws.
 */
export async function inSlices<T>(
  items: Iterable<T>,
  act: (item: T) => void,
  signal?: AbortSignal,
): Promise<boolean> {
  let start = performance.now()
  for (const item of items) {
    act(item)
    if (performance.now() - start < SLICE_MS) continue
    await new Promise((resolve) => setTimeout(resolve))
    if (signal?.aborted) return false
    start = performance.now()
  }
  return true
}
