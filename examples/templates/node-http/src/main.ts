// Serves over HTTP; the endpoint is /mcp. Without HOST, only this machine can reach the server.
import { serve } from 'edgewise/node'
import { server } from './server.ts'

const { HOST: hostname = '127.0.0.1', PORT: port = '8000' } = process.env
const { url, close } = await serve(server, { hostname, port: Number(port) })
console.log(`Serving on ${url}`)
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void close())
