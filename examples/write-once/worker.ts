// The server as a Worker: revisions with sessions keep them in a Durable Object.
import { createWorker } from 'edgewise/cloudflare'
import { server } from './server.ts'

const worker = createWorker(server)

export default worker
export const { McpSession, McpHub } = worker.durableObjects
