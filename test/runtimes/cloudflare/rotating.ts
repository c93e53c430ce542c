// A Worker whose secrets are what its bindings say.
import { env } from 'cloudflare:workers'
import { createWorker } from '../../../runtimes/cloudflare/index.ts'
import { makeServer } from '../../server/fixture.ts'

/** Separated by spaces; without any, one is minted. */
const { SECRETS } = env as { SECRETS?: string }

const worker = createWorker(makeServer().server, {
  stateless: env.STATELESS === 'yes',
  ...(SECRETS !== undefined && { secrets: SECRETS.split(' ') }),
})

export default worker
export const { McpSession, McpHub } = worker.durableObjects
