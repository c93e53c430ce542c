// Runs the Worker in this folder as `wrangler dev` does. While its tool waits for the user, the
// Worker is stopped and started again. The client resumes its broken stream, the answer causes the
// handler to run again, and the client receives the result. Then the cron trigger sends a change
// notification.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connect } from 'edgewise/client'
import { unstable_startWorker as startWorker } from 'wrangler'
import { freePort } from '../free-port.ts'

// The example works offline.
process.env.WRANGLER_SEND_METRICS = 'false'
process.env.CLOUDFLARE_CF_FETCH_ENABLED = 'false'

const storage = await mkdtemp(join(tmpdir(), 'fares-'))
const port = await freePort()
const start = (): ReturnType<typeof startWorker> =>
  startWorker({
    config: fileURLToPath(new URL('wrangler.toml', import.meta.url)),
    dev: { server: { port }, inspector: false, persist: storage, logLevel: 'error' },
  })
let worker = await start()
const url = new URL('/mcp', await worker.url)

const asked: string[] = []
let updated = (_uri: string): void => {}
const client = await connect(url, {
  revision: '2025-11-25',
  async onElicit({ message }) {
    asked.push(message)
    await worker.dispose()
    worker = await start()
    await worker.url
    return { action: 'accept', content: { confirm: true } }
  },
  onResourceUpdated: (uri) => updated(uri),
})

const { content } = await client.callTool('book', { city: 'Oslo' })
const text = asked[0]?.replace('Book ', 'Booked ').replace('?', '')
assert.deepEqual(content, [{ type: 'text', text }])
assert.equal(asked.length, 1)
console.log(text)

await client.subscribe('fare://oslo')
const notified = new Promise<string>((resolve) => (updated = resolve))
await fetch(new URL('/cdn-cgi/handler/scheduled', url))
assert.equal(await notified, 'fare://oslo')
console.log('The cron trigger announced a new fare')

await client.close()
await worker.dispose()
await rm(storage, { recursive: true })
