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
import { allowSuspensions } from './suspensions.ts'

/** Windows knows no SIGTERM. */
const SIGNALS: readonly Deno.Signal[] =
  Deno.build.os === 'windows' ? ['SIGINT'] : ['SIGINT', 'SIGTERM']

/**
 * Serves on stdin and stdout until the client closes stdin, or SIGINT or SIGTERM comes; what runs
 * is cancelled then, and what was sent is flushed. Needs no permission.
 *
 * From now on `console` prints to stderr, as nothing but messages may go to stdout. (What writes to
 * `Deno.stdout` itself cannot be stopped.)
 *
 * @throws {TypeError} When the server was not made by `createServer`.
 */
export function serveStdio(server: Server, options: ServeStdioOptions = {}): Promise<void> {
  allowSuspensions()
  return serveStdioOn(open, server, options)
}

function open(): StdioHost {
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
