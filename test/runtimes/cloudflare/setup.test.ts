import { spawn } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, relative, sep } from 'node:path'
import type { MiniflareOptions } from 'miniflare'
import { beforeAll, describe, expect, it } from 'vitest'
import { root } from '../../root.ts'
import { openSession, postModern } from '../../transport/streamable-http/post.ts'
import { bundleWorker, startWorker } from './workerd.ts'

let script: string

beforeAll(async () => {
  script = await bundleWorker('worker.ts')
})

/** What the Worker says when it is set up like that, at its start or at its first session. */
async function complaint(
  options: Partial<MiniflareOptions>,
  code: string = script,
): Promise<string> {
  try {
    const workerd = await startWorker(code, options)
    const { id } = await openSession(workerd.handle)
    expect(id, 'A session could be opened').toBe('')
    await workerd.stop()
    return workerd.printed.join('')
  } catch (error) {
    return String(error)
  }
}

describe('A Worker that is set up wrongly', () => {
  it('says which binding and migration are missing', async () => {
    const said = await complaint({ durableObjects: {} })
    expect(said).toContain('The Worker has no Durable Object binding "MCP_SESSION"')
    expect(said).toContain('new_sqlite_classes = ["McpSession", "McpHub"]')
  })

  it('says that its objects need SQLite', async () => {
    const said = await complaint({
      durableObjects: {
        MCP_SESSION: { className: 'McpSession', useSQLite: false },
        MCP_HUB: { className: 'McpHub', useSQLite: true },
      },
    })
    expect(said).toContain('McpSession needs SQLite storage')
  })

  it('names the option that is not a number, such as a missing variable', async () => {
    const said = await complaint(
      { bindings: { IDLE_MS: '' } },
      await bundleWorker('short-lived.ts'),
    )
    expect(said).toContain('"sessionIdleMs" must be a number of milliseconds')
  })

  it('names each option that is not a number as it should be', async () => {
    const workerd = await startWorker(await bundleWorker('options-worker.ts'), {
      durableObjects: {},
    })
    const errorWith = async (options: object): Promise<string> => {
      const body = JSON.stringify(options)
      const request = new Request('http://localhost/', { method: 'POST', body })
      return (await workerd.handle(request)).text()
    }
    for (const sessionIdleMs of ['', 'soon', '-1', 'Infinity']) {
      const said = await errorWith({ sessionIdleMs })
      expect(said).toContain('"sessionIdleMs" must be a number of milliseconds')
    }
    for (const hubShards of ['0', '-1', '1.5', 'NaN']) {
      const said = await errorWith({ hubShards })
      expect(said).toContain('"hubShards" must be a number of objects')
    }
    for (const maxOpenCalls of ['0', '-1', 'NaN']) {
      const said = await errorWith({ entrypoint: { maxOpenCalls } })
      expect(said).toContain('"maxOpenCalls" must be a number of calls')
    }
    expect(await errorWith({ hubShards: '2' })).toContain('no Durable Object binding')
    await workerd.stop()
  })

  it('names the option of the entrypoint that is unknown', async () => {
    const entrypoint = 'hubShards: 2, entrypoint: { maxCalls: 1 }'
    const said = await complaint({}, script.replace('hubShards: 2', entrypoint))
    expect(said).toContain('The entrypoint has no option "maxCalls"; it has caller, maxOpenCalls')
  })

  it('says that the compatibility date is too early', async () => {
    expect(await complaint({ compatibilityDate: '2023-01-01' })).toContain(
      'set compatibility_date = "2024-10-14"',
    )
  })
})

describe('A Worker', () => {
  it('makes no signals outside of requests, which workerd refused until 2026', async () => {
    const strict = `
      globalThis.AbortController = class extends AbortController {
        constructor() {
          if (globalThis.starting) throw new Error('Disallowed operation called within global scope')
          super()
        }
      }
      globalThis.starting = true
      ${script}
      globalThis.starting = false`
    const workerd = await startWorker(strict)
    expect((await postModern(workerd.handle, 'tools/list')).status).toBe(200)
    await workerd.stop()
  })

  it('runs with the first compatibility date that it names', async () => {
    const workerd = await startWorker(script, { compatibilityDate: '2024-10-14' })
    const { send } = await openSession(workerd.handle)
    expect((await send({ jsonrpc: '2.0', id: 1, method: 'tools/list' })).status).toBe(200)
    expect((await postModern(workerd.handle, 'tools/list')).status).toBe(200)
    await workerd.stop()
  })

  it('is deployed from a fresh clone, with the page that the playground needs', async () => {
    const clone = await mkdtemp(join(tmpdir(), 'edgewise-'))
    const made = new Set(['node_modules', 'dist', '.git', '.wrangler', '.cache', 'coverage'])
    const isSource = (file: string): boolean =>
      !relative(root, file)
        .split(sep)
        .some((name) => made.has(name))
    await cp(root, clone, { recursive: true, filter: isSource })
    await symlink(join(root, 'node_modules'), join(clone, 'node_modules'))
    const printed = await wrangler(['deploy', '--dry-run', '--outdir', join(clone, 'out')], clone)
    expect(printed).toMatch(/Read \d+ files from the assets directory/)
    expect(printed).toContain('env.MCP_HUB (McpHub)')
    await rm(clone, { recursive: true })
  })

  it('bundles for its deployment without Node modules', async () => {
    const out = await mkdtemp(join(tmpdir(), 'edgewise-'))
    const config = join(root, 'examples/cloudflare-worker/wrangler.toml')
    const printed = await wrangler(['deploy', '--dry-run', '--outdir', out, '--config', config])
    expect(printed).toContain('env.MCP_SESSION (McpSession)')
    const bundle = await readFile(join(out, 'worker.js'), 'utf8')
    expect(bundle).toContain('createWorker')
    expect(bundle.match(/from "(?!cloudflare:)[^"]+"/g)).toBeNull()
    await rm(out, { recursive: true })
  })
})

function wrangler(args: string[], cwd = root): Promise<string> {
  const bin = createRequire(import.meta.url).resolve('wrangler/bin/wrangler.js')
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [bin, ...args], {
      cwd,
      env: { ...process.env, WRANGLER_SEND_METRICS: 'false' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let printed = ''
    child.stdout.on('data', (data: Buffer) => (printed += String(data)))
    child.stderr.on('data', (data: Buffer) => (printed += String(data)))
    child.on('error', reject)
    child.on('close', (code) => (code === 0 ? resolve(printed) : reject(new Error(printed))))
  })
}
