/**
 * Serves over the standard streams of this process.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
import {
  printToStderr,
  serveStandardStreams,
  type StdioHost,
  type ServeStdioOptions,
} from '#internal/stdio'
import type { Server } from '../../src/presets/server-tiny.ts'
import { webWritable } from './streams.ts'
import { ignoreSuspensionRejections } from '../node/suspensions.ts'

/**
 * Serves on stdin and stdout until the client closes stdin, or SIGINT or SIGTERM arrives. Then requests
 * in progress are cancelled, and sent messages are flushed.
 *
 * The call redirects `console` and `process.stdout` to stderr, because only messages may go to stdout.
 * (Code that writes to `Bun.stdout` directly cannot be redirected.)
 *
 * @example
 * ```ts
 * import { serveStdio } from 'edgewise/bun'
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

/** Redirects `console` and `process.stdout` to stderr, and returns the streams. */
function openStdio(): StdioHost {
  printToStderr(console)
  process.stdout.write = process.stderr.write.bind(process.stderr)
  return {
    stdin: Bun.stdin.stream(),
    stdout: webWritable(Bun.stdout.writer()),
    onTerminate(listener: () => void) {
      // A second signal has its default effect, because each listener is called only once
      process.once('SIGINT', listener).once('SIGTERM', listener)
      return () => void process.off('SIGINT', listener).off('SIGTERM', listener)
    },
    exitAfter: (ms: number) => void setTimeout(() => process.exit(), ms).unref(),
  }
}
