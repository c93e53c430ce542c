// Runs both Workers of this folder with `wrangler dev`. A request to the shop calls a tool of the
// travel Worker over a service binding. The tool reports progress and asks the shop for input. The
// properties of the binding identify the shop.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../free-port.ts'

const path = (file: string): string => fileURLToPath(new URL(file, import.meta.url))
const storage = await mkdtemp(join(tmpdir(), 'travel-'))
const port = await freePort()
const dev = spawn(
  process.execPath,
  [
    fileURLToPath(import.meta.resolve('wrangler/bin/wrangler.js')),
    'dev',
    // HTTP requests reach the first Worker.
    ...['-c', path('shop/wrangler.toml'), '-c', path('travel/wrangler.toml')],
    ...['--port', String(port), '--inspector-port', String(await freePort())],
    ...['--persist-to', storage],
  ],
  {
    stdio: ['ignore', 'pipe', 'inherit'],
    // The example works offline.
    env: {
      ...process.env,
      WRANGLER_SEND_METRICS: 'false',
      CLOUDFLARE_CF_FETCH_ENABLED: 'false',
      CI: 'true',
    },
  },
)
const exited = once(dev, 'exit')
const ready = new Promise<void>((resolve) => {
  dev.stdout.on('data', (chunk) => String(chunk).includes('Ready on') && resolve())
})
await Promise.race([ready, exited])

async function book(query: string): Promise<{ steps: string[]; content: object[] }> {
  const response = await fetch(`http://localhost:${port}/?${query}`)
  return (await response.json()) as { steps: string[]; content: object[] }
}

const { steps, content } = await book('city=Bergen&budget=150')
// The handler runs again with the answer to its question, so it may report its progress twice.
assert.deepEqual([...new Set(steps)], ['Looking for seats to Bergen'])
assert.deepEqual(content, [{ type: 'text', text: 'Booked a seat to Bergen for shop' }])
console.log(content)

const refused = await book('city=Bergen&budget=50')
assert.deepEqual(refused.content, [{ type: 'text', text: 'Not booked' }])

dev.kill('SIGINT')
await exited
await rm(storage, { recursive: true })
