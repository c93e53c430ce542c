/**
 * The everything-server on workerd: listens on a free port and prints its endpoint.
 */
import { bundleWorker, startWorker, withTasks } from '../test/runtimes/cloudflare/workerd.ts'

const script = await bundleWorker('../../../conformance/everything-worker.ts')
const workerd = await startWorker(script, withTasks)
console.log(new URL('/mcp', workerd.url).href)
process.once('SIGTERM', () => void workerd.stop().then(() => process.exit()))
