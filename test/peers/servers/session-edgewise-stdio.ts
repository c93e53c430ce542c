/** The Edgewise server of the contract of sessions as a program on stdio. */
import { serveStdio } from '../../../runtimes/node/index.ts'
import { createEdgewise } from '../sessions/servers.ts'

await serveStdio(createEdgewise())
