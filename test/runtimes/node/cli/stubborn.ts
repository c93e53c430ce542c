// A server over stdio that goes on when its client has gone, as badly written ones do.
import { serveStdio } from '../../../../runtimes/node/index.ts'
import { createServer } from '../../../../src/presets/server.ts'

const server = createServer({ name: 'stubborn', version: '1.0.0' })
server.tool('hang', {}, () => {
  process.stderr.write(`pid ${process.pid} hangs\n`)
  return new Promise<never>(() => {})
})
server.tool('die', {}, () => process.exit(4))
setInterval(() => {}, 1000)
setTimeout(() => process.exit(), 60_000)
await serveStdio(server, { exitAfterMs: Infinity })
