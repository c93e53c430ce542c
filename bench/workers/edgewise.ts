/** Edgewise on Workers: modern requests in the Worker's isolate, sessions in Durable Objects. */
import { createWorker } from 'edgewise/cloudflare'
import { createEdgewise } from '../subjects/edgewise-server.ts'

const worker = createWorker(createEdgewise('echo'))

export default worker
export const { McpHub, McpSession } = worker.durableObjects
