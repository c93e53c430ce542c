// A server over stdio whose tool emits events.
import { serveStdio } from '../../../runtimes/node/index.ts'
import { countingServer } from './counting-server.ts'

await serveStdio(countingServer())
