// A Worker without Durable Objects.
import { createWorker } from '../../../runtimes/cloudflare/index.ts'
import { makeServer } from '../../server/fixture.ts'

const { server } = makeServer()
export default createWorker(server, { stateless: true })
