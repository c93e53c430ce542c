// Runs every example to its end: each asserts what it shows and exits 0.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runToEnd } from '../process.ts'
import { root } from '../root.ts'

// The playground is a page, and its test clicks through it; projects are made from the templates.
const others = ['playground', 'templates']
const stories = readdirSync(join(root, 'examples'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !others.includes(entry.name))
  .map((entry) => entry.name)

describe('Examples', () => {
  it('include a sign-in example at the address that its tokens name, not at that of the playground [P010]', () => {
    const config = (path: string): string => readFileSync(join(root, path), 'utf8')
    const example = config('examples/cloudflare-sign-in/wrangler.toml')
    const [, port] = /^\[dev\]\s+port = (\d+)$/m.exec(example) ?? []
    expect(example).toContain(`ORIGIN = "http://localhost:${port}"`)
    // The default port of `wrangler dev`, as for the playground
    expect(config('wrangler.toml')).not.toContain('[dev]')
    expect(port).not.toBe('8787')
    expect(port).toBeDefined()
    expect(config('docs/guides/sign-in.md')).toContain(`http://localhost:${port}/mcp`)
  })

  it.each(stories)('run to their end: %s', async (story) => {
    const file = join('examples', story, 'main.ts')
    // The first line says how a person runs it: `#!/usr/bin/env -S deno run --allow-net`.
    const [shebang = ''] = readFileSync(join(root, file), 'utf8').split('\n')
    const words = /^#!\/usr\/bin\/env (?:-S )?(.*)$/.exec(shebang)?.[1]?.split(' ') ?? ['tsx']
    await runToEnd([...words, file])
  })
})
