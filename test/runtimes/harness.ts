// What the portable suite is written with: no test framework, so that every runtime can run it.

/** The outcome of one test; `error` is there when it failed. */
export interface Result {
  name: string
  error?: string
}

/** Tests by name. One fails when it throws, rejects or takes longer than 100 seconds. */
export type Suite = Record<string, () => void | Promise<void>>

/** Runs all tests of a suite, one after the other. */
export async function run(suite: Suite, report: (result: Result) => void): Promise<void> {
  for (const [name, body] of Object.entries(suite)) {
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error('Took longer than 100 seconds')), 100_000)
    })
    try {
      await Promise.race([body(), late])
      report({ name })
    } catch (error) {
      report({
        name,
        // Not every engine begins the stack with what happened
        error: error instanceof Error ? `${error}\n${error.stack}` : String(error),
      })
    } finally {
      clearTimeout(timer)
    }
  }
}

/** Fails unless both are the same JSON value, properties in any order (undefined ones left out). */
export function equal(actual: unknown, expected: unknown): void {
  const [left, right] = [inOrder(actual), inOrder(expected)]
  if (left !== right) throw new Error(`Expected ${right} but got ${left}`)
}

/** Fails unless `value` is truthy. */
export function ok(value: unknown, message: string): asserts value {
  if (!value) throw new Error(message)
}

/** Waits for `promise` to reject and returns what it rejected with. */
export async function rejection(promise: Promise<unknown>): Promise<Record<string, unknown>> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )
  if ('value' in outcome) throw new Error(`Expected a rejection but got ${inOrder(outcome.value)}`)
  ok(typeof outcome.error === 'object' && outcome.error, `Rejected with ${String(outcome.error)}`)
  return outcome.error as Record<string, unknown>
}

/** Asks again every 10 milliseconds until `holds` says yes, for a minute at most. */
export async function until(what: string, holds: () => boolean): Promise<void> {
  for (let at = 0; !holds(); at++) {
    ok(at < 6000, `Waited in vain: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

function inOrder(value: unknown): string | undefined {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}
