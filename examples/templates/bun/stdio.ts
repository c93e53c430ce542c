// Serves over stdin and stdout, for hosts that start programs.
import { serveStdio } from 'edgewise/bun'
import { server } from './server.ts'

await serveStdio(server)
