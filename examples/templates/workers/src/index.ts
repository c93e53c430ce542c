// The Worker. Its endpoint is /mcp.
import { createWorker } from 'edgewise/cloudflare'
import { server } from './server.ts'

const worker = createWorker(server)
export default worker
export const { McpSession, McpHub } = worker.durableObjects
