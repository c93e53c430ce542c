/** The official v2 server as a program on stdio, both eras. */
import { serveStdio } from '@modelcontextprotocol/server/stdio'

import { createV2Server } from './v2.ts'

serveStdio(createV2Server)
