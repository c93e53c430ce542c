// A program of any runtime that starts a child by `stdioClient`, prints what that says, and closes it
// when it has said something, or goes on.
import type {
  StdioClientOptions,
  ChildTransport,
} from '../../../src/transport/stdio/child-transport.ts'

const runtime = 'Deno' in globalThis ? 'deno' : 'Bun' in globalThis ? 'bun' : 'node'
const { stdioClient } = (await import(`../../../runtimes/${runtime}/index.ts`)) as {
  stdioClient: (options: StdioClientOptions) => ChildTransport
}
const [command = '', script = '', then] = process.argv.slice(2)
const transport = stdioClient({ command, args: ['-e', script], graceMs: 300 })
await transport.start({
  message(frame) {
    console.log(JSON.stringify(frame))
    if (then !== 'close') return
    void transport.close().then(() => console.log('closed'))
  },
  malformed() {},
  closed() {},
})
if (then !== 'close') setInterval(() => {}, 1000)
if (then === 'listen') process.on('SIGTERM', () => console.log('received'))
