/** The official v2 server as a program on stdio: both eras, or with the argument `modern` one. */
import { serveStdio } from '@modelcontextprotocol/server/stdio'

import { createV2Server } from './v2.ts'

serveStdio(createV2Server, { legacy: process.argv[2] === 'modern' ? 'reject' : 'serve' })
