// Serves over HTTP; the endpoint is /mcp.
import { serve } from 'edgewise/bun'
import { server } from './server.ts'

const { url } = await serve(server, { port: 8000 })
console.log(`Serving on ${url}`)
