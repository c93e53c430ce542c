/** The Edgewise server as a program on stdio. */
import { serveStdio } from '../../../runtimes/node/index.ts'
import { createPeerServer } from './edgewise.ts'

await serveStdio(createPeerServer())
