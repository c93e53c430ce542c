/** tmcp over stdio. */
import { StdioTransport } from '@tmcp/transport-stdio'
import { createServer } from '../subjects/tmcp-server.ts'

new StdioTransport(createServer('echo')).listen()
