// Runs the suite over a service binding of the Worker to its own entrypoint.
import { connect } from 'edgewise/client'
import { bindingTransport, createWorker } from 'edgewise/cloudflare'
import { run } from '../harness.ts'
import { server } from '../server.ts'
import { bindingSuite } from './binding-suite.ts'

const worker = createWorker(server)
export const { McpSession, McpHub } = worker.durableObjects
export const Portable = worker.entrypoint

type Binding = Parameters<typeof bindingTransport>[0]

export default {
  async fetch(_request: Request, { PORTABLE }: { PORTABLE: Binding }): Promise<Response> {
    const suite = bindingSuite((options) => connect(bindingTransport(PORTABLE), options))
    const lines: string[] = []
    await run(suite, (result) => lines.push(JSON.stringify(result)))
    return new Response(lines.join('\n'))
  },
}
