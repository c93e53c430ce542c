// A Worker whose rate limit holds across isolates.
import {
  createWorker,
  McpRateLimit,
  durableObjectRateLimits,
} from '../../../runtimes/cloudflare/index.ts'
import { createServer, rateLimit } from '../../../src/presets/server.ts'

const server = createServer({ name: 'limited', version: '1' })
server.tool('a', {}, () => 'a')
server.use(
  'tools/call',
  rateLimit({ requests: 2, perMs: 60_000, store: durableObjectRateLimits() }),
)

export { McpRateLimit }
export default createWorker(server, { stateless: true })
