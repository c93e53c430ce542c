// A Worker that finds out who calls, and says no in every way there is.
import { createWorker } from '../../runtimes/cloudflare/index.ts'
import { makeServer } from '../server/fixture.ts'

const { server } = makeServer()

const worker = createWorker(server, {
  path: '/mcp',
  ssePath: '/sse',
  allowedOrigins: ['https://app.example'],
  maxBodyBytes: 5000,
  identify: (request) => {
    switch (request.headers.get('authorization')) {
      case 'ann':
        return { principal: 'ann' }
      case 'elsewhere':
        return Response.redirect('https://login.example/')
      case 'trouble':
        throw new Error('The directory is down')
      default:
        return Response.json({ error: 'Who are you?' }, { status: 401 })
    }
  },
})

export default worker
export const { McpSession, McpHub } = worker.durableObjects
