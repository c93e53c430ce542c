// The server over stdio.
import { serveStdio } from '../../../../runtimes/node/index.ts'
import { makeServer } from './server.ts'

await serveStdio(makeServer())
