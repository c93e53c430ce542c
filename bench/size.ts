// Bundle sizes of the package: minified and gzipped bundles of what an application imports, compared to
// its budget. `npm run size` fails beyond a budget; lower a budget whenever its bundle has become smaller.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build, type BuildOptions } from 'esbuild'
import manifest from '../package.json' with { type: 'json' }

const root = fileURLToPath(new URL('..', import.meta.url))

/** One bundle: the code that an application would write, and its maximum size. */
export interface Budget {
  name: string
  code: string
  /** The maximum size of the bundle, in units of 1024 bytes, minified and gzipped. */
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
  { name: 'client', code: client, maxKb: 18.45 },
  { name: 'client with sign-in', code: `${client}; ${signIn}`, maxKb: 28.1 },
  {
    name: 'client in a page',
    code: `import { connect } from 'edgewise/browser'; console.log(connect)`,
    maxKb: 20.4,
  },
  {
    name: 'message port',
    code: `import { messagePortTransport } from 'edgewise/transport'; console.log(messagePortTransport)`,
    maxKb: 3,
  },
  {
    name: 'event receiver',
    code: `import { createEventReceiver } from 'edgewise/events/client'; console.log(createEventReceiver)`,
    maxKb: 2,
  },
  { name: 'tiny server', code: tinyServer, maxKb: 15.8 },
  { name: 'protected tiny server', code: `${tinyServer}; ${protection}`, maxKb: 25.6 },
  { name: 'server', code: server, maxKb: 23 },
  { name: 'protected server', code: `${server}; ${protection}`, maxKb: 33 },
  {
    name: 'first extension of a server',
    code: `${server}; ${extension}`,
    maxKb: 3,
    base: server,
  },
  {
    // What extensions share is in the row above: a server has it once
    name: 'events of a server',
    code: `${server}; ${extension}; ${events}`,
    maxKb: 7.2,
    base: `${server}; ${extension}`,
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
    maxKb: 1.6,
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
const page = { name: 'playground', maxKb: 56 }

/** The size of one bundle. */
export interface Weight {
  /** Bytes, minified and gzipped. */
  gzipBytes: number
  /** Bytes, minified. */
  minifiedBytes: number
}

const common = {
  absWorkingDir: root,
  bundle: true,
  minify: true,
  write: false,
  format: 'esm',
  target: 'es2022',
  platform: 'browser',
  external: ['@opentelemetry/api'],
  outfile: 'bundle.js',
} satisfies BuildOptions

/** Bundles code that imports the built package, as an application's bundler does for browsers. */
export async function bundle(code: string): Promise<string> {
  const { outputFiles } = await build({ ...common, stdin: { contents: code, resolveDir: root } })
  return outputFiles[0]!.text
}

/** Measures a bundle of code that imports the built package. */
export async function weigh(code: string): Promise<Weight> {
  const file = Buffer.from(await bundle(code))
  return { gzipBytes: gzipSync(file, { level: 9 }).byteLength, minifiedBytes: file.byteLength }
}

/** Measures a bundle, or what it adds to another one. */
async function weightOf({ code, base }: Budget): Promise<Weight> {
  const whole = await weigh(code)
  if (base === undefined) return whole
  const { gzipBytes, minifiedBytes } = await weigh(base)
  return {
    gzipBytes: whole.gzipBytes - gzipBytes,
    minifiedBytes: whole.minifiedBytes - minifiedBytes,
  }
}

/**
 * The composition of a bundle of the sources: minified bytes by file, largest first. (The built package
 * is already bundled, so its own files say little.)
 */
export async function ingredients(code: string): Promise<[path: string, bytes: number][]> {
  const { metafile } = await build({
    ...common,
    stdin: { contents: code, resolveDir: root },
    metafile: true,
    alias: sources,
  })
  return Object.entries(metafile.outputs['bundle.js']!.inputs)
    .map(([path, { bytesInOutput }]): [string, number] => [path, bytesInOutput])
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
    const { gzipBytes, minifiedBytes } = await weightOf(budget)
    const fits = report(budget, gzipBytes, `, ${kb(minifiedBytes)} KB minified`)
    if (!details && fits) continue
    for (const [path, bytes] of await ingredients(budget.code))
      console.log(`       ${kb(bytes)} KB  ${path}`)
  }
  const html = readFileSync(`${root}dist/playground/index.html`, 'utf8')
  const [, inline = ''] = /<script>([^]+?)<\/script>/.exec(html) ?? []
  let pageBytes = gzipSync(inline, { level: 9 }).byteLength
  const scripts = new Set(['app.js', 'callback.js'])
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
