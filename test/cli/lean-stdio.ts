// A lean server over stdio, which tells nothing on its own.
import { serveStdio } from '../../runtimes/node/index.ts'
import { makeLeanServer } from './server.ts'

await serveStdio(makeLeanServer())
