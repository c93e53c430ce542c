/** Edgewise over stdio. */
import { serveStdio } from 'edgewise/node'
import { createEdgewise } from '../subjects/edgewise-server.ts'

await serveStdio(createEdgewise('echo'))
