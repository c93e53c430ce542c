// Suites that run on another runtime, and their results as tests of this one.
import { beforeAll, expect, it } from 'vitest'
import { bundleWorker, startWorker } from './cloudflare/workerd.ts'
import type { Result } from './harness.ts'

/** Runs a suite, and gives each result as a line of JSON. */
export type Run = (line: (text: string) => void) => Promise<void>

/** Runs the suite of a Worker that answers with its results. */
export function onWorkerd(worker: string): Run {
  return async (line) => {
    const workerd = await startWorker(await bundleWorker(worker))
    const printed = await (await workerd.get('/')).text()
    for (const each of printed.split('\n')) line(each)
    await workerd.stop()
  }
}

/** One test for each of a suite that runs elsewhere. */
export function testElsewhere(run: Run, titles: readonly string[], rules = ''): void {
  const results = new Map<string, Result>()
  const printed: string[] = []

  beforeAll(async () => {
    await run((line) => {
      printed.push(line)
      const result = JSON.parse(line) as Result
      results.set(result.name, result)
    })
  })

  it.each(titles)(`%s${rules}`, (title) => {
    const result = results.get(title)
    expect(result, printed.join('\n')).toBeDefined()
    if (result?.error !== undefined) throw new Error(result.error)
  })
}
