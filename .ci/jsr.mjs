// Publishes to JSR, which takes sources: copies them to a separate folder, with a `jsr.json` generated
// from package.json. With `--dry-run` it only runs JSR's checks, above all that no type has to be
// inferred from code ("slow types"); that needs no network.
import { spawnSync } from 'node:child_process'
import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'

const folder = '.cache/jsr'
/** What JSR gets: sources without tests. */
const CONTENT =
  /^(?:LICENSE|README\.md|jsr\.json|package\.json|(?:src|runtimes)\/(?!node\/cli\/|.*\.test\.).+\.tsx?)$/
const manifest = JSON.parse(await readFile('package.json', 'utf8'))
const { name, version, license, dependencies, devDependencies, peerDependencies } = manifest

// JSR needs a single major version of each peer; of transitive dependencies it is the one tested here.
const peers = Object.keys(peerDependencies).map((peer) => [peer, caret(devDependencies[peer])])
const entries = Object.entries(manifest.exports).filter(([, path]) => path.endsWith('.js'))
const exports = Object.fromEntries(
  entries.map(([entry, path]) => [entry, path.replace('./dist/', './').replace(/\.js$/, '.ts')]),
)
const imports = Object.fromEntries(
  (await readdir('src/internal')).map((file) => [
    `#internal/${file.replace(/\.ts$/, '')}`,
    `./src/internal/${file}`,
  ]),
)

await rm(folder, { recursive: true, force: true })
await mkdir(folder, { recursive: true })
for (const path of ['src', 'runtimes', 'README.md', 'LICENSE']) {
  // The command line is published on npm only, because it serves and copies built files.
  const isTaken = (file) => !/\/tsconfig\.json$|runtimes\/.*\.md$|runtimes\/node\/cli$/.test(file)
  await cp(path, `${folder}/${path}`, { recursive: true, filter: isTaken })
}
await write('jsr.json', { name: `@edgewise/${name}`, version, license, exports, imports })
await write('package.json', { dependencies: { ...dependencies, ...Object.fromEntries(peers) } })
const unexpected = (await readdir(folder, { recursive: true, withFileTypes: true }))
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) => `${parentPath.replaceAll('\\', '/')}/${name}`)
  .filter((path) => !CONTENT.test(path.slice(folder.length + 1)))
if (unexpected.length > 0) throw new Error(`JSR must not get ${unexpected.join(', ')}`)
await symlink('../../node_modules', `${folder}/node_modules`, 'junction')

const isDry = process.argv.includes('--dry-run')
// The types of all runtimes are never checked together; `npm run types` checks those of each.
const options = ['--no-check', '--allow-dirty', '--node-modules-dir=manual']
const { status, stdout, stderr } = spawnSync(
  'npx',
  ['deno', 'publish', ...options, ...(isDry ? ['--dry-run'] : [])],
  {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, ...(isDry && { NO_COLOR: '1' }) },
    stdio: isDry ? 'pipe' : 'inherit',
  },
)
if (status !== 0 || /^warning\[/m.test(stderr ?? '')) {
  console.error(stdout ?? '', stderr ?? '')
  process.exit(1)
}
if (isDry) console.log(`JSR takes ${entries.length} entries, none with slow types`)

function write(file, content) {
  return writeFile(`${folder}/${file}`, `${JSON.stringify(content, null, 2)}\n`)
}

function caret(range) {
  return range.startsWith('^') ? range : `^${range}`
}
