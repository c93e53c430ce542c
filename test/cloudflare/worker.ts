// The fixture's server as a Worker, with routes of its own that tell what tests need to know.
import { createWorker } from '../../runtimes/cloudflare/index.ts'
import { makeServer } from '../server/fixture.ts'

const { server, ran } = makeServer()

const worker = createWorker(server, {
  identify: (request) => {
    const principal = request.headers.get('x-user')
    if (principal === 'nobody') return new Response('Who are you?', { status: 401 })
    return principal === null ? {} : { principal }
  },
})

export default {
  fetch(...args: Parameters<typeof worker.fetch>): Response | Promise<Response> {
    const { pathname } = new URL(args[0].url)
    if (pathname === '/ran') return Response.json(ran)
    return worker.fetch(...args)
  },
}
export const { McpSession } = worker.durableObjects
