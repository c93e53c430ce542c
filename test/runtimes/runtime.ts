// Turns a run of the portable suite elsewhere into one vitest test for each of its tests.
import { build, type Plugin } from 'esbuild'
import { beforeAll, describe, expect, it } from 'vitest'
import { root } from '../root.ts'
import type { Result, Suite } from './harness.ts'
import { suite } from './suite.ts'

/** Runs a suite, gives each line that it prints to `line` and resolves at its end. */
export type Start = (line: (text: string) => void) => Promise<void>

/** Registers the portable suite as vitest tests. `name` says what runs it. */
export function portableSuite(name: string, start: Start): void {
  suiteElsewhere(`Portable suite on ${name}`, suite, start)
}

/** Registers a suite that runs elsewhere as vitest tests. */
export function suiteElsewhere(title: string, suite: Suite, start: Start): void {
  describe(title, () => {
    const results = new Map<string, Result>()
    const noise: string[] = []
    let failure: Error | undefined

    beforeAll(async () => {
      const line = (text: string): void => {
        const result = parse(text)
        if (result) results.set(result.name, result)
        else noise.push(text)
      }
      await start(line).catch((error: Error) => (failure = error))
    })

    it.each(Object.keys(suite))('%s', (title) => {
      const result = results.get(title)
      expect(result, `Not reported. Printed instead:\n${noise.join('\n')}`).toBeDefined()
      if (result?.error !== undefined) throw new Error(result.error)
    })

    it('The run exits on its own, without an error and with no other output', () => {
      if (failure) throw failure
      expect(noise).toEqual([])
    })
  })
}

/** Bundles one file of this folder into a single module for a runtime without a module loader. */
export async function bundle(
  file: string,
  conditions: string[],
  plugins: Plugin[] = [],
): Promise<string> {
  const result = await build({
    entryPoints: [`${root}test/runtimes/${file}`],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    conditions,
    plugins,
  })
  return result.outputFiles[0]!.text
}

function parse(text: string): Result | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && 'name' in value
      ? (value as Result)
      : undefined
  } catch {
    return undefined
  }
}
