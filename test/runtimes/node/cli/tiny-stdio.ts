// A tiny server over stdio, which tells nothing on its own.
import { serveStdio } from '../../../../runtimes/node/index.ts'
import { makeTinyServer } from './server.ts'

await serveStdio(makeTinyServer())
