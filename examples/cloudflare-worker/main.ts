// Runs the Worker in this folder as `wrangler dev` does, and calls it with clients of two revisions:
// with a session and without one.
import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { connect } from 'edgewise/client'
import { unstable_startWorker as startWorker } from 'wrangler'

// The example works offline.
process.env.WRANGLER_SEND_METRICS = 'false'
process.env.CLOUDFLARE_CF_FETCH_ENABLED = 'false'

const worker = await startWorker({
  config: fileURLToPath(new URL('wrangler.toml', import.meta.url)),
  dev: { server: { port: 0 }, inspector: false, persist: false, logLevel: 'error' },
})
const url = new URL('/mcp', await worker.url)

for (const revision of ['2025-11-25', '2026-07-28'] as const) {
  await using client = await connect(url, {
    revision,
    onElicit: () => ({ action: 'accept', content: { confirm: true } }),
  })
  const { content } = await client.callTool('book', { city: 'Oslo' })
  assert.deepEqual(content, [{ type: 'text', text: 'Booked Oslo' }])
  console.log(`${client.revision}: ${JSON.stringify(content)}`)
}

await worker.dispose()
