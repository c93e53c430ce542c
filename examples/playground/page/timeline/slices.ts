/**
 * Long work in short slices, so that the page stays responsive.
 *
 * @see https://web.dev/articles/optimize-long-tasks
 */

/** The maximum duration of a slice, in milliseconds. */
const SLICE_MS = 12

/** Lets the page do other work. Unlike a timer, it is not delayed in the background. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      port1.close()
      resolve()
    }
    port2.postMessage(undefined)
  })
}

/** Creates a function to call between pieces of long work. It pauses at the end of each slice. */
export function slicer(): () => Promise<void> | undefined {
  let end = performance.now() + SLICE_MS
  return () => {
    if (performance.now() < end) return undefined
    return nextTask().then(() => {
      end = performance.now() + SLICE_MS
    })
  }
}

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
  const endSlice = slicer()
  for (const item of items) {
    act(item)
    const pause = endSlice()
    if (!pause) continue
    await pause
    if (signal?.aborted) return false
  }
  return true
}
