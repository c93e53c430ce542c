/** The Edgewise server as a Worker. */
import { createWorker } from '../../../runtimes/cloudflare/index.ts'
import { createPeerServer } from './edgewise.ts'

const worker = createWorker(createPeerServer())
export default worker
export const { McpSession, McpHub } = worker.durableObjects
