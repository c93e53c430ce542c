// Bundle sizes of the package: minified and gzipped bundles of what an application imports, compared to
// its budget. A budget limits what is loaded at the start; the code that is loaded on demand is printed
// after it. `npm run size` fails beyond a budget; lower a budget whenever its bundle has become smaller.
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build, type BuildOptions } from 'esbuild'
import manifest from '../package.json' with { type: 'json' }

const root = fileURLToPath(new URL('..', import.meta.url))

/** One bundle: the code that an application would write, and its maximum size. */
export interface Budget {
  name: string
  code: string
  /** The maximum size of what is loaded at the start, in units of 1024 bytes, minified and gzipped. */
  maxKb: number
  /** Code whose size is subtracted, for a budget that limits what a feature adds to it. */
  base?: string
}

const client = `import { connect } from 'edgewise/client'; console.log(connect)`
const tiny = `import { connect } from 'edgewise/client/tiny'; console.log(connect)`
const server = `import { createServer, createHandler } from 'edgewise/server'; console.log(createServer, createHandler)`
const tinyServer = server.replace('edgewise/server', 'edgewise/server/tiny')
const protection = `import { jwtTokens, protectedResource } from 'edgewise/protected-resource'; console.log(jwtTokens, protectedResource)`
const card = `import { cardHandler, serverCard } from 'edgewise/cards'; console.log(cardHandler, serverCard)`
const extension = `import { serverExtension } from 'edgewise/server'; console.log(serverExtension)`
const events = `import { events } from 'edgewise/events'; console.log(events)`
const streams = `import { streams } from 'edgewise/events'; console.log(streams)`
const webhooks = `import { webhooks } from 'edgewise/events'; console.log(webhooks)`
const signIn = `import { signIn } from 'edgewise/authorization'; console.log(signIn)`

export const budgets: readonly Budget[] = [
  { name: 'tiny client', code: tiny, maxKb: 12 },
  { name: 'tiny client with sign-in', code: `${tiny}; ${signIn}`, maxKb: 21.55 },
  {
    name: 'tiny client in a page',
    code: `import { connect } from 'edgewise/browser/tiny'; console.log(connect)`,
    maxKb: 13,
  },
  { name: 'client', code: client, maxKb: 14.55 },
  { name: 'client with sign-in', code: `${client}; ${signIn}`, maxKb: 24.96 },
  {
    name: 'client in a page',
    code: `import { connect } from 'edgewise/browser'; console.log(connect)`,
    maxKb: 16.5,
  },
  {
    name: 'message port',
    code: `import { messagePortTransport } from 'edgewise/transport'; console.log(messagePortTransport)`,
    maxKb: 3,
  },
  {
    name: 'receiver of webhooks',
    code: `import { createEventReceiver } from 'edgewise/events/client'; console.log(createEventReceiver)`,
    maxKb: 2,
  },
  { name: 'tiny server', code: tinyServer, maxKb: 13.9 },
  { name: 'protected tiny server', code: `${tinyServer}; ${protection}`, maxKb: 23.7 },
  { name: 'server', code: server, maxKb: 23 },
  { name: 'protected server', code: `${server}; ${protection}`, maxKb: 33 },
  {
    name: 'one extension of a server',
    code: `${server}; ${extension}`,
    maxKb: 3,
    base: server,
  },
  {
    // What extensions share is in the row above: a server has it once
    name: 'events of a server',
    code: `${server}; ${extension}; ${events}`,
    maxKb: 6,
    base: `${server}; ${extension}`,
  },
  {
    name: 'streams of events',
    code: `${server}; ${events}; ${streams}`,
    maxKb: 1.27,
    base: `${server}; ${events}`,
  },
  {
    name: 'webhooks of a server',
    code: `${server}; ${events}; ${webhooks}`,
    maxKb: 6.85,
    base: `${server}; ${events}`,
  },
  {
    name: 'opentelemetry',
    code: `import { openTelemetry } from 'edgewise/opentelemetry'; console.log(openTelemetry)`,
    maxKb: 3,
  },
  {
    name: 'middleware of a client',
    code: `${client}; import { middleware, retry, throttle, logRequests } from 'edgewise/client'; console.log(middleware, retry, throttle, logRequests)`,
    maxKb: 1.63,
    base: client,
  },
  {
    name: 'middleware of a server',
    code: `${server}; import { messageMiddleware, rateLimit, responseCache, timeout } from 'edgewise/server'; console.log(messageMiddleware, rateLimit, responseCache, timeout)`,
    maxKb: 1.7,
    base: server,
  },
  { name: 'card of a server', code: `${server}; ${card}`, maxKb: 2, base: server },
]

/**
 * The maximum size of the scripts that the playground loads when it starts, including the parts of the
 * package that they use.
 */
const page = { name: 'playground', maxKb: 57.5 }

/** The size of one bundle. */
export interface Weight {
  /** Bytes that are loaded at the start, minified and gzipped. */
  gzipBytes: number
  /** Bytes that are loaded at the start, minified. */
  minifiedBytes: number
  /** Bytes of the code that is loaded on demand, minified and gzipped. */
  onDemandGzipBytes: number
}

const common = {
  absWorkingDir: root,
  bundle: true,
  minify: true,
  write: false,
  splitting: true,
  format: 'esm',
  target: 'es2022',
  platform: 'browser',
  external: ['@opentelemetry/api'],
  metafile: true,
  outdir: 'bundle',
} satisfies BuildOptions

/** One file of a bundle. */
interface BundleFile {
  readonly text: string
  /** Whether the file is only loaded on demand, with `import()`. */
  readonly isOnDemand: boolean
  /** The minified bytes of each file that it contains. */
  readonly contents: readonly (readonly [path: string, bytes: number])[]
}

/** The built package is already bundled, so its own files say little. */
type Origin = 'sources' | 'package'

/** The bundles so far: several budgets have the same base, and several tests look at the same bundle. */
const bundles = new Map<string, Promise<BundleFile[]>>()

/** Bundles code as an application's bundler does for browsers. Returns the files that can be loaded. */
function bundleFiles(code: string, from: Origin = 'package'): Promise<BundleFile[]> {
  const key = `${from}: ${code}`
  const bundled = bundles.get(key) ?? buildFiles(code, from === 'sources' ? sources : {})
  bundles.set(key, bundled)
  return bundled
}

async function buildFiles(code: string, alias: Record<string, string>): Promise<BundleFile[]> {
  const stdin = { contents: code, resolveDir: root }
  const { outputFiles, metafile } = await build({ ...common, alias, stdin })
  const { outputs } = metafile
  const entries = Object.keys(outputs).filter((path) => outputs[path]?.entryPoint === '<stdin>')
  const atStart = reached(entries, (path) =>
    outputs[path]?.imports.filter(({ kind }) => kind === 'import-statement'),
  )
  // Code without an import of a file may remain in the bundle, because the bundler removed the import later
  const loadable = reached(entries, (path) => outputs[path]?.imports)
  return outputFiles.flatMap(({ path, text }) => {
    const name = relative(root, path)
    if (!loadable.has(name)) return []
    const contents = Object.entries(outputs[name]?.inputs ?? {}).map(
      ([input, { bytesInOutput }]) => [input, bytesInOutput] as const,
    )
    return [{ text, contents, isOnDemand: !atStart.has(name) }]
  })
}

/** The files that are imported from other files, directly or indirectly, and these files themselves. */
function reached(
  files: readonly string[],
  importsOf: (path: string) => readonly { path: string }[] | undefined,
): Set<string> {
  const found = new Set(files)
  // The set grows during the iteration
  for (const file of found) for (const { path } of importsOf(file) ?? []) found.add(path)
  return found
}

/** Bundles code that imports the built package. Returns the text of all files. */
export async function bundle(code: string): Promise<string> {
  const files = await bundleFiles(code)
  return files.map(({ text }) => text).join('\n')
}

/** Measures a bundle of code that imports the built package. Each file of the bundle is compressed. */
export async function weigh(code: string): Promise<Weight> {
  const weight: Weight = { gzipBytes: 0, minifiedBytes: 0, onDemandGzipBytes: 0 }
  for (const { text, isOnDemand } of await bundleFiles(code)) {
    const file = Buffer.from(text)
    const gzipBytes = gzipSync(file, { level: 9 }).byteLength
    if (isOnDemand) weight.onDemandGzipBytes += gzipBytes
    else {
      weight.gzipBytes += gzipBytes
      weight.minifiedBytes += file.byteLength
    }
  }
  return weight
}

/** Measures a bundle, or what it adds to another one. */
async function weightOf({ code, base }: Budget): Promise<Weight> {
  const whole = await weigh(code)
  if (base === undefined) return whole
  const { gzipBytes, minifiedBytes, onDemandGzipBytes } = await weigh(base)
  return {
    gzipBytes: whole.gzipBytes - gzipBytes,
    minifiedBytes: whole.minifiedBytes - minifiedBytes,
    onDemandGzipBytes: whole.onDemandGzipBytes - onDemandGzipBytes,
  }
}

/** The composition of a bundle: minified bytes by file, largest first. */
export async function ingredients(
  code: string,
  from: Origin = 'sources',
): Promise<[path: string, bytes: number, isOnDemand: boolean][]> {
  const files = await bundleFiles(code, from)
  return files
    .flatMap(({ isOnDemand, contents }) =>
      contents.map(([path, bytes]): [string, number, boolean] => [path, bytes, isOnDemand]),
    )
    .filter(([, bytes]) => bytes > 0)
    .sort(([, a], [, b]) => b - a)
}

/** The package's entries as source files. */
const sources = Object.fromEntries(
  Object.entries(manifest.exports)
    .filter(([entry]) => entry !== '.' && !entry.endsWith('.json'))
    .map(([entry, path]) => [
      `edgewise${entry.slice(1)}`,
      `${root}${path.replace('./dist/', '').replace(/\.js$/, '.ts')}`,
    ]),
)

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const details = process.argv.includes('--files')
  for (const budget of budgets) {
    const { gzipBytes, minifiedBytes, onDemandGzipBytes } = await weightOf(budget)
    const isShown = budget.base === undefined && onDemandGzipBytes > 0
    const onDemand = isShown ? `, ${kb(onDemandGzipBytes)} KB gzip on demand` : ''
    const fits = report(budget, gzipBytes, `, ${kb(minifiedBytes)} KB minified${onDemand}`)
    if (!details && fits) continue
    for (const [path, bytes, isOnDemand] of await ingredients(budget.code))
      console.log(`       ${kb(bytes)} KB  ${path}${isOnDemand ? ' (on demand)' : ''}`)
  }
  const html = readFileSync(`${root}dist/playground/index.html`, 'utf8')
  const [, inline = ''] = /<script>([^]+?)<\/script>/.exec(html) ?? []
  let pageBytes = gzipSync(inline, { level: 9 }).byteLength
  const [app = ''] = /app-[\w-]+\.js/.exec(inline) ?? []
  const scripts = new Set([app, 'callback.js'])
  // The set grows during the iteration
  for (const name of scripts) {
    const text = readFileSync(`${root}dist/playground/${name}`, 'utf8')
    pageBytes += gzipSync(text, { level: 9 }).byteLength
    for (const [, imported = ''] of text.matchAll(/(?:import|from)"\.\/([^"]+)"/g))
      scripts.add(imported)
  }
  report(page, pageBytes, '')
}

/** Prints one line; returns whether the bundle is within its budget. */
function report(
  { name, maxKb }: Pick<Budget, 'name' | 'maxKb'>,
  gzipBytes: number,
  more: string,
): boolean {
  const fits = gzipBytes <= maxKb * 1024
  if (!fits) process.exitCode = 1
  const mark = fits ? 'ok  ' : 'OVER'
  console.log(`${mark} ${name.padEnd(24)} ${kb(gzipBytes)} KB gzip of ${maxKb} KB${more}`)
  return fits
}

function kb(bytes: number): string {
  return (bytes / 1024).toFixed(2).padStart(6)
}
