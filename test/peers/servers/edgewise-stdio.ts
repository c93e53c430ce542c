/** The Edgewise server as a program on stdio; its arguments are the revisions that it speaks. */
import { serveStdio } from '../../../runtimes/node/index.ts'
import { findRevision, type Revision } from '../../../src/index.ts'
import { createPeerServer } from './edgewise.ts'

const revisions = process.argv.slice(2).filter((name): name is Revision => !!findRevision(name))
await serveStdio(createPeerServer(revisions.length > 0 ? { revisions } : {}))
