// Serves the server as a program that a host starts.
import { serveStdio } from 'edgewise/node'
import { server } from './server.ts'

await serveStdio(server)
