/**
 * Runs the Worker with the page on this machine, without an account, prompts or a network.
 * Arguments, such as `--port 8000`, are passed to `wrangler dev`.
 *
 * @see https://developers.cloudflare.com/workers/wrangler/commands/#dev
 */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

const wrangler = spawn(
  process.execPath,
  ['node_modules/wrangler/bin/wrangler.js', 'dev', ...process.argv.slice(2)],
  {
    cwd: root,
    // Over the IPC channel, wrangler sends its address when it is ready
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: {
      WRANGLER_LOG: 'warn',
      ...process.env,
      WRANGLER_HIDE_BANNER: 'true',
      // `npm start` has built the package
      EDGEWISE_BUILT: 'true',
      // Otherwise wrangler requests the location of clients from Cloudflare
      CLOUDFLARE_CF_FETCH_ENABLED: 'false',
    },
  },
)
wrangler.on('message', (message) => {
  const { event, ip, port }: { [name: string]: string | number } = JSON.parse(String(message))
  if (event !== 'DEV_SERVER_READY') return
  const url = `http://${ip}:${port}`
  // The first request is slow, so it is sent before the user opens the page
  void fetch(`${url}/mcp`)
    .then(() => fetch(url))
    .catch(() => undefined)
    .then(() => console.log(`Playground: ${url}`))
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => wrangler.kill(signal))
}
wrangler.on('exit', (code) => (process.exitCode = code ?? 1))
