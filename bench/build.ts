/** Compiles the benchmark scripts, so that JavaScript is measured without a loader. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build, type BuildOptions } from 'esbuild'

const out = fileURLToPath(new URL('../.cache/bench/', import.meta.url))

/** The absolute path of a file in this folder. */
export const source = (file: string): string => fileURLToPath(new URL(file, import.meta.url))

const common = {
  bundle: true,
  format: 'esm',
  target: 'es2023',
  sourcemap: 'linked',
  logLevel: 'warning',
  define: { 'process.env.NODE_ENV': '"production"' },
} satisfies BuildOptions

/**
 * Compiles a script for Node; packages stay imports, so they are loaded as published.
 *
 * @returns The path of the compiled script.
 */
export async function buildForNode(file: string): Promise<string> {
  const name = file.replace(/\.ts$/, '')
  const outdir = `${out}node/${name.replaceAll('/', '-')}`
  await build({
    ...common,
    entryPoints: { main: source(file) },
    outdir,
    platform: 'node',
    packages: 'external',
    splitting: true,
    outExtension: { '.js': '.mjs' },
  })
  return `${outdir}/main.mjs`
}

/**
 * Compiles a script for Node with all packages included, like servers that ship as a single file.
 *
 * @returns The path of the compiled script.
 */
export async function bundleForNode(file: string): Promise<string> {
  const outfile = `${out}bundled/${file.replace(/\.ts$/, '').replaceAll('/', '-')}.mjs`
  await build({
    ...common,
    entryPoints: [source(file)],
    outfile,
    platform: 'node',
    // Some packages call `require` for Node's built-in modules.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  })
  return outfile
}

/** The files of subjects whose names differ from their labels. */
const FILES: Readonly<Record<string, string>> = {
  'official v2': 'official',
  'edgewise tiny': 'edgewise-tiny',
}

/**
 * Compiles a Worker that serves one subject's echo tool in one way.
 *
 * @returns The Worker's only module.
 */
export async function buildForWorker(name: string, way: string): Promise<string> {
  const contents =
    name === 'edgewise' && way === 'session'
      ? `export * from './workers/edgewise.ts'; export { default } from './workers/edgewise.ts'`
      : `
        import { subject } from './subjects/${FILES[name] ?? name}.ts'
        const handle = subject.${way}('echo')
        export default { fetch: (request) => handle(request) }`
  return buildModule({ stdin: { contents, resolveDir: source('.'), sourcefile: 'worker.ts' } })
}

/**
 * Compiles a Worker in this folder.
 *
 * @returns The Worker's only module.
 */
export function buildWorker(file: string): Promise<string> {
  return buildModule({ entryPoints: [source(file)] })
}

/**
 * Compiles the Worker of `McpAgent` with wrangler, because it needs Node modules.
 *
 * @returns The Worker's only module.
 */
export function buildAgent(): string {
  const outdir = `${out}mcp-agent`
  const bin = fileURLToPath(import.meta.resolve('wrangler/bin/wrangler.js'))
  const config = source('mcp-agent/wrangler.toml')
  const args = [bin, 'deploy', '--dry-run', '--outdir', outdir, '--config', config]
  const env = { ...process.env, WRANGLER_SEND_METRICS: 'false' }
  execFileSync(process.execPath, args, { env, stdio: 'pipe' })
  return readFileSync(`${outdir}/worker.js`, 'utf8')
}

async function buildModule(input: BuildOptions): Promise<string> {
  const { outputFiles } = await build({
    ...common,
    ...input,
    sourcemap: false,
    write: false,
    platform: 'browser',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['node:*', 'cloudflare:*'],
  })
  return outputFiles?.[0]?.text ?? ''
}
