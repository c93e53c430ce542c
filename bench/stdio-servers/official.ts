/** The official SDK v2 over stdio. */
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { createServer } from '../subjects/official.ts'

serveStdio(() => createServer('echo'))
