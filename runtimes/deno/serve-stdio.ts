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
import { ignoreSuspensionRejections } from './suspensions.ts'

/** The signals that end the server. Windows does not support SIGTERM. */
const SIGNALS: readonly Deno.Signal[] =
  Deno.build.os === 'windows' ? ['SIGINT'] : ['SIGINT', 'SIGTERM']

/**
 * Serves on stdin and stdout until the client closes stdin, or SIGINT or SIGTERM arrives. Then requests
 * in progress are cancelled, and sent messages are flushed. This process needs no permissions.
 *
 * The call redirects `console` to stderr, because only messages may go to stdout. (Code that writes to
 * `Deno.stdout` directly cannot be redirected.)
 *
 * @example
 * ```ts
 * import { serveStdio } from 'edgewise/deno'
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

/** Redirects `console` to stderr, and returns the streams. */
function openStdio(): StdioHost {
  printToStderr(console)
  return {
    stdin: Deno.stdin.readable,
    stdout: Deno.stdout.writable,
    onTerminate(listener: () => void) {
      for (const signal of SIGNALS) Deno.addSignalListener(signal, listener)
      return () => {
        for (const signal of SIGNALS) Deno.removeSignalListener(signal, listener)
      }
    },
    exitAfter: (ms: number) => Deno.unrefTimer(setTimeout(() => Deno.exit(), ms)),
  }
}
