// Serves over HTTP; the endpoint is /mcp. Without HOST, only this machine can reach the server.
import { serve } from 'edgewise/deno'
import { server } from './server.ts'

const hostname = Deno.env.get('HOST') ?? '127.0.0.1'
const { url } = await serve(server, { hostname, port: Number(Deno.env.get('PORT') ?? 8000) })
console.log(`Serving on ${url}`)
