// A program of any runtime that sends requests with `webhookFetch`, and prints what came of each.
import type { WebhookFetchOptions } from '../../../runtimes/node/webhook-fetch.ts'
import type { WebhookFetch } from '../../../src/events/webhooks/options.ts'

const runtime = 'Deno' in globalThis ? 'deno' : 'Bun' in globalThis ? 'bun' : 'node'
const { webhookFetch } = (await import(`../../../runtimes/${runtime}/index.ts`)) as {
  webhookFetch: (options?: WebhookFetchOptions) => WebhookFetch
}
const [port = '', ca = '', address = ''] = process.argv.slice(2)

async function send(url: string, options: WebhookFetchOptions): Promise<void> {
  const body = new TextEncoder().encode('{"challenge":"☕"}')
  const headers = { 'content-type': 'application/json' }
  const signal = AbortSignal.timeout(2_000)
  const request = { method: 'POST', headers, body, signal, redirect: 'manual' } as const
  try {
    const response = await webhookFetch(options)(url, request)
    console.log(response.status, await response.text())
  } catch (error) {
    const { name, code } = error as { name: string; code: unknown }
    console.log(name, code)
  }
}

const trusted = { ca, resolve: () => [address], allowAddress: (one: string) => one === address }
const url = `https://localhost:${port}`
await send(`${url}/in?k=1`, trusted)
await send(`${url}/redirect`, trusted)
await send(`${url}/silent`, trusted)
await send(`https://other.example:${port}/in`, trusted)
await send(`${url}/in`, { resolve: trusted.resolve, allowAddress: trusted.allowAddress })
await send(`${url}/in`, { ...trusted, resolve: () => ['10.0.0.1'] })
await send(`${url}/in`, { ...trusted, resolve: () => [address, '::1'] })
await send(`https://169.254.169.254/in`, trusted)
// The name has its real address
await send(`${url}/in`, { ca })
process.exit(0)
