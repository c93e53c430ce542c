/**
 * Adds one to the number in a file, ten times, by turns that processes take. Runs on Node, Deno and
 * Bun.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { argv } from 'node:process'
import { fileTokenStore } from '../../../runtimes/node/file-tokens.ts'

const folder = argv.at(-1) ?? ''
const tokens = fileTokenStore(`${folder}/tokens`)
for (let round = 0; round < 10; round++) {
  await tokens.withLock('count', async () => {
    const count = Number(await readFile(`${folder}/count`, 'utf8'))
    await new Promise((resolve) => setTimeout(resolve, 5))
    await writeFile(`${folder}/count`, String(count + 1))
  })
}
