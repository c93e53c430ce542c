import { beforeAll, describe, expect, it } from 'vitest'
import { bundleWorker, startWorker } from '../cloudflare/workerd.ts'
import { runLines } from '../process.ts'
import type { Result } from '../runtimes/harness.ts'
import { storeSuite } from '../session/store-suite.ts'

const titles = Object.keys(
  storeSuite(() => Promise.reject(new Error('Only the titles count here'))),
)
const flags = ['--no-remote', '--node-modules-dir=manual', '--no-prompt', '--no-lock']

type Run = (line: (text: string) => void) => Promise<void>
const runtimes: Record<string, Run> = {
  'node:sqlite of Deno': (line) =>
    runLines(['deno', 'run', ...flags, 'test/sqlite/node-sqlite.ts'], line),
  'bun:sqlite': (line) => runLines(['bun', '--no-install', 'test/sqlite/bun-sqlite.ts'], line),
  'a Durable Object': async (line) => {
    const workerd = await startWorker(await bundleWorker('../sqlite/worker.ts'))
    const text = await (await workerd.get('/')).text()
    for (const each of text.split('\n')) line(each)
    await workerd.stop()
  },
}

describe.each(Object.entries(runtimes))('The store in SQLite on %s', (_name, run) => {
  const results = new Map<string, Result>()
  const printed: string[] = []

  beforeAll(async () => {
    await run((line) => {
      printed.push(line)
      const result = JSON.parse(line) as Result
      results.set(result.name, result)
    })
  }, 120_000)

  it.each(titles)('%s', (title) => {
    const result = results.get(title)
    expect(result, printed.join('\n')).toBeDefined()
    if (result?.error !== undefined) throw new Error(result.error)
  })
})
