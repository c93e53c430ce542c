/** The official v1 server as a program on stdio. */
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'

import { createV1Server } from './v1.ts'

await createV1Server().connect(new StdioServerTransport())
