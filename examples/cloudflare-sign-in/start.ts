// Runs the Worker in this folder as `wrangler dev` does, without accounts or network.
import { fileURLToPath } from 'node:url'
import { unstable_startWorker as startWorker } from 'wrangler'
import { freePort } from '../free-port.ts'

/** Starts the Worker on a port that is chosen beforehand, because its tokens contain the address. */
export async function start(): Promise<{ origin: string; stop: () => Promise<void> }> {
  process.env.WRANGLER_SEND_METRICS = 'false'
  process.env.CLOUDFLARE_CF_FETCH_ENABLED = 'false'
  const port = await freePort()
  const origin = `http://localhost:${port}`
  const worker = await startWorker({
    config: fileURLToPath(new URL('wrangler.toml', import.meta.url)),
    bindings: { ORIGIN: { type: 'plain_text', value: origin } },
    dev: { server: { port }, inspector: false, persist: false, logLevel: 'error' },
  })
  await worker.ready
  return { origin, stop: () => worker.dispose() }
}
