// Packs the package, as npm publishes it, into `.cache/package.tgz`, where tools check it.
import { execSync } from 'node:child_process'
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'

const folder = '.cache/pack'
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
execSync(`npm pack --loglevel=error --pack-destination ${folder}`, {
  stdio: ['ignore', 'ignore', 'inherit'],
})
const [archive] = readdirSync(folder)
renameSync(`${folder}/${archive}`, '.cache/package.tgz')
