// The commands of the documentation site. Installs its packages if they are missing or outdated.
//   npm run docs           serves the site, and updates it while you edit the documentation
//   npm run docs:build     builds it into docs/site/dist
//   npm run docs:check     builds it, then checks its search, and its pages in a browser
//   npm run docs:deploy    builds it, and deploys it to Cloudflare
import { spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const site = fileURLToPath(new URL('.', import.meta.url))
const root = join(site, '../..')

const commands = {
  serve() {
    if (!existsSync(join(site, 'pages/reference'))) run('node', ['reference.mjs'])
    run('npx', ['vitepress', 'dev', ...process.argv.slice(3)])
  },
  build() {
    run('node', ['reference.mjs'])
    run('npx', ['vitepress', 'build'])
  },
  check() {
    commands.build()
    run('node', ['check/search.mjs'])
    run('npx', ['tsx', 'check/browser.mjs'])
  },
  deploy() {
    commands.build()
    run('npx', ['wrangler', 'deploy', '--config', 'docs/site/wrangler.toml'], root)
  },
}

const command = commands[process.argv[2]]
if (!command) throw new Error(`The command must be one of ${Object.keys(commands).join(', ')}`)
if (!isInstalled()) run('npm', ['ci'])
command()

/** Whether the packages are those of the lock file. */
function isInstalled() {
  const installed = join(site, 'node_modules/.package-lock.json')
  const lock = join(site, 'package-lock.json')
  return existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs
}

function run(program, args, cwd = site) {
  const { status } = spawnSync(program, args, { cwd, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
