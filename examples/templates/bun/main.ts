// Serves over HTTP; the endpoint is /mcp. Without HOST, only this machine can reach the server.
import { serve } from 'edgewise/bun'
import { server } from './server.ts'

const { HOST: hostname = '127.0.0.1', PORT: port = '8000' } = process.env
const { url } = await serve(server, { hostname, port: Number(port) })
console.log(`Serving on ${url}`)
