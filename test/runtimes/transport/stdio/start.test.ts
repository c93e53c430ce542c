// What a program that serves over stdio loads before it can answer: its host waits for that at every
// start. How long it takes is `npm run bench -- stdio`.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runLines } from '../../../process.ts'
import { root } from '../../../root.ts'

const entries = ['dist/src/presets/server.js', 'dist/runtimes/node/index.js']

/** The files that some files import at once, directly or not, and their external modules. */
function imported(paths: readonly string[]): { files: Set<string>; others: string[] } {
  const files = new Set(paths.map((path) => join(root, path)))
  const others: string[] = []
  // Grows while it is gone through
  for (const file of files) {
    const text = readFileSync(file, 'utf8')
    for (const [, name = ''] of text.matchAll(/^(?:import|export) [^'"]*?from ["'](.+)["'];?$/gm)) {
      if (name.startsWith('.')) files.add(join(dirname(file), name))
      else others.push(name)
    }
  }
  return { files, others }
}

describe('A program that serves over stdio', () => {
  it('loads a few files of the package, and no other package', () => {
    const { files, others } = imported(entries)
    expect(others).toEqual([])
    expect(files.size).toBeGreaterThan(entries.length)
    expect(files.size).toBeLessThan(15)
  })

  it('loads nothing of Node that it does not use', async () => {
    const script = `
      const before = new Set(process.moduleLoadList)
      await import('edgewise/server')
      await import('edgewise/node')
      // Printing loads more
      const loaded = process.moduleLoadList.filter((name) => !before.has(name))
      console.log([...loaded, 'end'].join('\\n'))`
    const names: string[] = []
    await runLines(['node', '--input-type=module', '-e', script], (line) => names.push(line))
    expect(names.at(-1)).toBe('end')
    // Of these, undici (which is fetch) costs more than all of the package
    expect(
      names.filter((name) => /undici|(^| )(http|net|dns|os|process|child_process)\b/.test(name)),
    ).toEqual([])
  })
})
