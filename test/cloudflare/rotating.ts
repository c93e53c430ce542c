// A Worker whose secrets are what its bindings say.
import { env } from 'cloudflare:workers'
import { createWorker } from '../../runtimes/cloudflare/index.ts'
import { makeServer } from '../server/fixture.ts'

interface Env {
  /** Separated by spaces; without any, one is minted. */
  SECRETS?: string
}

const worker = createWorker<Env>(makeServer().server, {
  stateless: env.STATELESS === 'yes',
  secrets: ({ SECRETS }) => SECRETS?.split(' '),
})

export default worker
export const { McpSession, McpHub } = worker.durableObjects
