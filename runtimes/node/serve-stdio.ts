/**
 * Serves over the standard streams of this process.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
import { serveStdioOn, type StdioHost, type ServeStdioOptions } from '#internal/stdio'
import type { Server } from '../../src/presets/server-tiny.ts'
import { webReadable, webWritable } from './streams.ts'
import { allowSuspensions } from './suspensions.ts'

/**
 * Serves on stdin and stdout until the client closes stdin, or SIGINT or SIGTERM comes; what runs
 * is cancelled then, and what was sent is flushed.
 *
 * From now on nothing but messages goes to stdout: whatever else the program prints there, with
 * `console` or `process.stdout`, goes to stderr. (What writes to the file descriptor itself, such
 * as a child process that inherits it, cannot be stopped.)
 *
 * @throws {TypeError} When the server was not made by `createServer`.
 */
export function serveStdio(server: Server, options: ServeStdioOptions = {}): Promise<void> {
  allowSuspensions()
  return serveStdioOn(open, server, options)
}

function open(): StdioHost {
  const { stdin, stdout, stderr } = process
  const write = stdout.write.bind(stdout)
  stdout.write = stderr.write.bind(stderr)
  // With the client its end of stderr may be gone; a log line must not end the program then.
  stderr.on('error', () => {})
  return {
    stdin: webReadable(stdin, () => stdin.destroy()),
    stdout: webWritable(stdout, () => {}, write),
    onTerminate(listener: () => void) {
      // Once each: the second time the signal does what it always does.
      process.once('SIGINT', listener).once('SIGTERM', listener)
      return () => void process.off('SIGINT', listener).off('SIGTERM', listener)
    },
    exitAfter: (ms: number) => void setTimeout(() => process.exit(), ms).unref(),
  }
}
