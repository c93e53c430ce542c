// Runs Workers on a real workerd, offline, with a storage that outlives it.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { build } from 'esbuild'
import { Miniflare, type MiniflareOptions } from 'miniflare'
import type { Handler } from '../../../src/presets/server.ts'
import { memoize } from '../../memoize.ts'
import { root } from '../../root.ts'

/** A Worker that runs. */
export interface Workerd {
  /** Sends a request to the Worker, with any host in its URL. */
  readonly handle: Handler
  /** Where it listens. */
  readonly url: URL
  /** Where a named entrypoint listens that was given a socket of its own. */
  entrypointUrl(name: string): Promise<URL>
  /** Fetches a path. */
  get(path: string): Promise<Response>
  /**
   * Stops workerd and starts it again on the same storage, as a deployment does: every object in
   * memory is gone.
   *
   * @param deployed Other code; the same by default.
   */
  restart(deployed?: string): Promise<void>
  /** What workerd printed. */
  readonly printed: string[]
  /** Stops workerd; fails on an unhandled rejection, which ends programs elsewhere. */
  stop(): Promise<void>
}

const objects = {
  MCP_SESSION: { className: 'McpSession', useSQLite: true },
  MCP_HUB: { className: 'McpHub', useSQLite: true },
}

/** What a Worker needs whose server serves tasks. */
export const withTasks: Partial<MiniflareOptions> = {
  durableObjects: { ...objects, MCP_TASK: { className: 'McpTask', useSQLite: true } },
}

/** Bundles a file of this folder into one module. Several test files may need the same one. */
export const bundleWorker: (file: string) => Promise<string> = memoize(bundleOf)

async function bundleOf(file: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(root, 'test/runtimes/cloudflare', file)],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    conditions: ['workerd', 'worker'],
    external: ['cloudflare:*', 'node:async_hooks'],
  })
  return outputFiles[0]!.text
}

/**
 * A Worker that waits for objects no longer than a moment while `globalThis.impatient` is set, which
 * it has to do itself, and as long as a busy machine needs otherwise.
 */
export function impatient(script: string): string {
  const found = /OBJECT_TIMEOUT_MS = [\de]+/
  if (!found.test(script)) throw new Error('The Worker has no patience to begin with')
  const patience = '{ valueOf: () => globalThis.impatient ? 300 : 60_000 }'
  return script.replace(found, `OBJECT_TIMEOUT_MS = ${patience}`)
}

/** The message that the tests' Workers log for an unhandled rejection. */
const UNHANDLED = 'Unhandled rejection:'
const sayUnhandled = `
addEventListener('unhandledrejection', ({ reason }) => console.error('${UNHANDLED}', reason?.stack ?? reason))`

/** What Miniflare needs to know of the only module of a Worker. */
export function moduleOf(script: string, compatibilityDate = '2026-04-26') {
  return {
    modules: [{ type: 'ESModule' as const, path: 'worker.mjs', contents: script + sayUnhandled }],
    compatibilityDate,
    // Requests through Miniflare's own Worker never inform workerd that the client disconnected.
    unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
  }
}

/** Starts a Worker; `options` go to Miniflare. The rejection carries what workerd printed. */
export async function startWorker(
  script: string,
  options: Partial<MiniflareOptions> = {},
): Promise<Workerd> {
  const storage = await mkdtemp(join(tmpdir(), 'edgewise-'))
  const printed: string[] = []
  const start = async (): Promise<[Miniflare, URL]> => {
    const miniflare = new Miniflare({
      ...moduleOf(script),
      durableObjects: objects,
      durableObjectsPersist: storage,
      cf: false,
      handleRuntimeStdio: (stdout: Readable, stderr: Readable) => {
        stdout.on('data', (data: Buffer) => printed.push(String(data)))
        stderr.on('data', (data: Buffer) => printed.push(String(data)))
      },
      ...options,
    } as MiniflareOptions)
    await miniflare.ready.catch((error: Error) => {
      throw new Error([error.message, ...printed].join('\n'))
    })
    return [miniflare, await miniflare.unsafeGetDirectURL()]
  }
  let [miniflare, url] = await start()
  const handle = async (request: Request): Promise<Response> => {
    const { pathname, search } = new URL(request.url)
    const body = request.body ? await request.text() : undefined
    const { method, headers, signal } = request
    return fetch(new URL(pathname + search, url), {
      method,
      headers,
      signal,
      ...(body !== undefined && { body }),
    })
  }
  return {
    handle: Object.assign(handle, { close: () => Promise.resolve() }),
    get url() {
      return url
    },
    entrypointUrl: (name) => miniflare.unsafeGetDirectURL(undefined, name),
    get: (path) => fetch(new URL(path, url)),
    printed,
    async restart(deployed = script) {
      script = deployed
      await miniflare.dispose()
      ;[miniflare, url] = await start()
    },
    async stop() {
      await miniflare.dispose()
      await rm(storage, { recursive: true, force: true })
      const unhandled = printed.filter((line) => line.includes(UNHANDLED))
      if (unhandled.length > 0) throw new Error(unhandled.join('\n'))
    },
  }
}

/**
 * Does something again and again, each time after a rest, until it wakes objects that had left
 * memory: they do ten seconds after their last request, or later on a busy machine.
 *
 * @param kinds The kinds of objects, as `/lives` of the Worker names them.
 */
export async function untilWoken(
  workerd: Workerd,
  kinds: readonly string[],
  work: () => Promise<void>,
): Promise<void> {
  const lives = async (): Promise<Record<string, number>> =>
    (await (await workerd.get('/lives')).json()) as Record<string, number>
  for (const restMs of [12_000, 20_000, 40_000, 80_000]) {
    const before = await lives()
    await new Promise((resolve) => setTimeout(resolve, restMs))
    await work()
    const after = await lives()
    if (kinds.every((kind) => after[kind]! > before[kind]!)) return
  }
  throw new Error(`Some of the ${kinds.join(' and ')} never left memory`)
}
