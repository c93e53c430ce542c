// Runs the Worker in this folder as `wrangler dev` does, subscribes a webhook to its events, and ships
// two orders, of which the subscription receives one.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { connect } from 'edgewise/client'
import { eventInbox, eventSubscriptions } from 'edgewise/events/client'
import { toNodeListener } from 'edgewise/node'
import { unstable_startWorker as startWorker } from 'wrangler'
import { freePort } from '../free-port.ts'

// The example works offline.
process.env.WRANGLER_SEND_METRICS = 'false'
process.env.CLOUDFLARE_CF_FETCH_ENABLED = 'false'

// The receiver. Its public URL would lead to this port; here the Worker is given the port.
const port = await freePort()
const inbox = eventInbox('https://receiver.example/hooks')
const http = createServer(toNodeListener((request) => inbox.receive(request)))
await new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve))

const proxy = `http://127.0.0.1:${port}`
const worker = await startWorker({
  config: fileURLToPath(new URL('wrangler.toml', import.meta.url)),
  bindings: { WEBHOOK_PROXY: { type: 'plain_text', value: proxy } },
  dev: { server: { port: 0 }, inspector: false, persist: false, logLevel: 'error' },
})
const { origin } = await worker.url
const headers = { authorization: 'Bearer a key for this example' }

const client = await connect(`${origin}/mcp`, { headers })
const subscriptions = eventSubscriptions(client, { receiver: inbox })

/** Ships an order once the subscription exists. */
async function ship(order: { id: string; city: string }): Promise<void> {
  while (!(await subscriptions.list()).some(({ id }) => id !== undefined)) {
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const body = JSON.stringify(order)
  const answer = await fetch(`${origin}/shipments`, { method: 'POST', headers, body })
  assert.equal(answer.status, 202)
}

const shipping = ship({ id: 'o_1', city: 'Rome' }).then(() => ship({ id: 'o_2', city: 'Oslo' }))
for await (const { name, data } of subscriptions.follow('order.shipped', { city: 'Oslo' })) {
  assert.deepEqual(data, { id: 'o_2', city: 'Oslo' })
  console.log(`${name}: ${JSON.stringify(data)}`)
  break
}
await shipping

await subscriptions.stopAll()
await client.close()
http.closeAllConnections()
http.close()
await worker.dispose()
