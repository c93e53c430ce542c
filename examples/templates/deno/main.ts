// Serves over HTTP; the endpoint is /mcp.
import { serve } from 'edgewise/deno'
import { server } from './server.ts'

const { url } = await serve(server, { port: 8000 })
console.log(`Serving on ${url}`)
