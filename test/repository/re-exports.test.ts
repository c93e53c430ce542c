import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from '../root.ts'

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly exports: { readonly [entry: string]: string }
}
const entries = Object.values(manifest.exports).map((path) =>
  path.replace(/^\.\/dist\/(.*)\.js$/, '$1.ts'),
)
const files = ['src', 'runtimes'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => `${folder}/${file.replaceAll('\\', '/')}`),
)

/** The names that a text exports without declaring them. */
function reExports(text: string): string[] {
  const lists = text.matchAll(/^export (?:type )?(\*|\{[^}]*\})/gm)
  return Array.from(lists, ([, names = '']) => names)
}

describe('A type or function', () => {
  it('is exported by the file that declares it, and re-exported only by entries', () => {
    expect(entries.filter((entry) => files.includes(entry)).length).toBeGreaterThan(20)
    const others = files.filter(
      (file) => !entries.includes(file) && !file.startsWith('src/internal/'),
    )
    expect(others.length).toBeGreaterThan(300)
    const found = others.flatMap((file) =>
      reExports(readFileSync(join(root, file), 'utf8')).map((names) => `${file}: ${names}`),
    )
    expect(found).toEqual([])
  })
})
