/**
 * Serves over the standard streams of this process.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
import { serveStandardStreams, type StdioHost, type ServeStdioOptions } from '#internal/stdio'
import type { Server } from '../../src/presets/server-tiny.ts'
import { webReadable, webWritable } from './streams.ts'
import { ignoreSuspensionRejections } from './suspensions.ts'

/**
 * Serves on stdin and stdout until the client closes stdin, or SIGINT or SIGTERM arrives. Then requests
 * in progress are cancelled, and sent messages are flushed.
 *
 * Only messages may go to stdout, so the call redirects everything else that the program prints
 * with `console` or `process.stdout` to stderr. (Code that writes to the file descriptor directly,
 * such as a child process that inherits it, cannot be redirected.)
 *
 * @example
 * ```ts
 * import { serveStdio } from 'edgewise/node'
 * import { createServer } from 'edgewise/server'
 *
 * const server = createServer({ name: 'travel', version: '1.0.0' })
 * server.tool('greet', {}, () => 'Hello')
 *
 * await serveStdio(server)
 * ```
 *
 * @throws {TypeError} If the server was not created by `createServer`, or has a tool with
 *   `task: 'required'` but was not extended with `tasks()`.
 * @throws {SdkError} `INVALID_USE` if a secret is too short.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
export function serveStdio(server: Server, options: ServeStdioOptions = {}): Promise<void> {
  ignoreSuspensionRejections()
  return serveStandardStreams(openStdio, server, options)
}

/** Redirects `process.stdout`, which `console` uses, to stderr. Returns the original streams. */
function openStdio(): StdioHost {
  const { stdin, stdout, stderr } = process
  const writeToStdout = stdout.write.bind(stdout)
  stdout.write = stderr.write.bind(stderr)
  // If the client has closed stderr too, a log line must not end the process
  stderr.on('error', () => {})
  return {
    stdin: webReadable(stdin, () => stdin.destroy()),
    // The process closes stdout when it exits, so nothing is done at the end of the stream
    stdout: webWritable(stdout, () => {}, writeToStdout),
    onTerminate(listener: () => void) {
      // A second signal has its default effect, because each listener is called only once
      process.once('SIGINT', listener).once('SIGTERM', listener)
      return () => void process.off('SIGINT', listener).off('SIGTERM', listener)
    },
    exitAfter: (ms: number) => void setTimeout(() => process.exit(), ms).unref(),
  }
}
