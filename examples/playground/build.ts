/**
 * Builds the page into the package's `dist`, from where the Worker's assets and `edgewise inspect`
 * are served.
 *
 * @see https://esbuild.github.io/api/
 */
import { cp } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const page = fileURLToPath(new URL('page/', import.meta.url))
const target = fileURLToPath(new URL('../../dist/playground/', import.meta.url))

await build({
  entryPoints: [`${page}main.ts`, `${page}callback.ts`],
  outdir: target,
  bundle: true,
  format: 'esm',
  target: 'es2023',
  minify: true,
  sourcemap: true,
})
for (const file of ['index.html', 'callback.html', 'styles.css', 'icon.svg', '_headers']) {
  await cp(page + file, target + file)
}
