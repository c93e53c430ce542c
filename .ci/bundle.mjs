// Bundles the package's entries into `dist`, beside their declarations, with chunks for what several
// of them share: a program that imports two entries loads a few files, not a hundred.
import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { build } from 'esbuild'

const manifest = JSON.parse(await readFile('package.json', 'utf8'))
const outputs = [...Object.values(manifest.exports), ...Object.values(manifest.bin ?? {})]
const entryPoints = outputs
  .filter((path) => path.endsWith('.js'))
  .map((path) => path.replace('./dist/', '').replace(/\.js$/, '.ts'))

await rm('dist/chunks', { recursive: true, force: true })
const { metafile } = await build({
  entryPoints,
  outbase: '.',
  outdir: 'dist',
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  target: 'es2022',
  platform: 'neutral',
  packages: 'external',
  external: ['node:*', 'cloudflare:*'],
  minifySyntax: true,
  sourcemap: true,
  sourcesContent: false,
  metafile: true,
  logLevel: 'warning',
})
// Chunks that nothing is taken from are imported for effects, and none has any.
for (const path of Object.keys(metafile.outputs).filter((path) => path.endsWith('.js'))) {
  const code = await readFile(path, 'utf8')
  await writeFile(path, code.replaceAll(/^import "[^"]*chunks\/[^"]*";$/gm, ''))
}
// What `edgewise new` copies.
await rm('dist/templates', { recursive: true, force: true })
await cp('examples/templates', 'dist/templates', { recursive: true })
