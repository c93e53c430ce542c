// Serves the server as a Worker. Sessions of older revisions are Durable Objects.
import { createWorker } from 'edgewise/cloudflare'
import { server } from './server.ts'

const worker = createWorker(server)

export default worker
export const { McpSession, McpHub } = worker.durableObjects
