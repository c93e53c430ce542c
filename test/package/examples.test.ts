// Runs every example to its end: each asserts what it shows and exits 0.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import { runToEnd } from '../process.ts'
import { root } from '../root.ts'

// The playground is a page, and its test clicks through it; projects are made from the templates.
const others = ['playground', 'templates']
const stories = readdirSync(join(root, 'examples'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !others.includes(entry.name))
  .map((entry) => entry.name)
// The second part of this story waits until a killed process counts as dead
const args: Record<string, string[]> = { 'scale-out': ['--quick'] }

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
    await runToEnd([...words, file, ...(args[story] ?? [])])
  })

  it('have containers whose files, ports and variables fit the server that they run', () => {
    const read = (path: string): string => readFileSync(join(root, path), 'utf8')
    const folder = 'examples/scale-out'
    const { services } = load(read(`${folder}/compose.yaml`)) as {
      services: {
        server: {
          build: { context: string; dockerfile: string }
          environment: Record<string, string>
        }
        proxy: { ports: string[]; volumes: string[] }
      }
    }
    const { build, environment } = services.server
    const program = read(`${folder}/server.ts`)
    for (const name of Object.keys(environment)) expect(program).toMatch(named(name))
    for (const [, name = ''] of program.matchAll(/required\('(\w+)'\)/g)) {
      expect(environment).toHaveProperty(name)
    }

    expect(existsSync(join(root, folder, build.context, build.dockerfile))).toBe(true)
    const dockerfile = read(build.dockerfile)
    for (const [, path = ''] of dockerfile.matchAll(/ (examples\/\S+\.ts) /g)) {
      expect(existsSync(join(root, path))).toBe(true)
    }
    expect(dockerfile).toContain('EXPOSE 8000')
    expect(program).toContain('PORT ?? 8000')

    const [source = ''] = services.proxy.volumes[0]?.split(':') ?? []
    const proxy = read(join(folder, source))
    expect(proxy).toContain('server server:8000 resolve;')
    expect(proxy).toContain(`listen ${services.proxy.ports[0]?.split(':')[1]};`)
  })
})

/** What reads a variable of the environment. */
function named(variable: string): RegExp {
  return new RegExp(`process\\.env\\.${variable}\\b|required\\('${variable}'\\)`)
}
