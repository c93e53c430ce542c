/**
 * Serves over the standard streams of this process.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
import {
  printToStderr,
  serveStdioOn,
  type StdioHost,
  type ServeStdioOptions,
} from '#internal/stdio'
import type { Server } from '../../src/presets/server-tiny.ts'
import { webWritable } from './streams.ts'
import { allowSuspensions } from '../node/suspensions.ts'

/**
 * Serves on stdin and stdout until the client closes stdin, or SIGINT or SIGTERM comes; what runs
 * is cancelled then, and what was sent is flushed.
 *
 * From now on `console` and `process.stdout` print to stderr, as nothing but messages may go to
 * stdout. (What writes to `Bun.stdout` itself cannot be stopped.)
 *
 * @throws {TypeError} When the server was not made by `createServer`.
 */
export function serveStdio(server: Server, options: ServeStdioOptions = {}): Promise<void> {
  allowSuspensions()
  return serveStdioOn(open, server, options)
}

function open(): StdioHost {
  printToStderr(console)
  process.stdout.write = process.stderr.write.bind(process.stderr)
  return {
    stdin: Bun.stdin.stream(),
    stdout: webWritable(Bun.stdout.writer()),
    onTerminate(listener: () => void) {
      // Once each: the second time the signal does what it always does.
      process.once('SIGINT', listener).once('SIGTERM', listener)
      return () => void process.off('SIGINT', listener).off('SIGTERM', listener)
    },
    exitAfter: (ms: number) => void setTimeout(() => process.exit(), ms).unref(),
  }
}
