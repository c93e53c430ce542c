/** The official v1 server of the contract of sessions as a program on stdio. */
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'

import { createV1 } from '../sessions/servers.ts'

await createV1().connect(new StdioServerTransport())
