/** The official v2 server of the contract of sessions as a program on stdio. */
import { serveStdio } from '@modelcontextprotocol/server/stdio'

import { createV2 } from '../sessions/servers.ts'

serveStdio(createV2)
