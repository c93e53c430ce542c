// A tiny server over stdio, which sends no notifications of its own.
import { serveStdio } from '../../../../runtimes/node/index.ts'
import { makeTinyServer } from './server.ts'

await serveStdio(makeTinyServer())
