/**
 * Stdio internals for the runtimes; not part of the public API.
 *
 * @module
 */
export type { ChildExit, ChildProcess } from '../transport/stdio/child-process.ts'
export {
  childTransport,
  inheritedVariables,
  type ChildTransport,
  type ChildTransportOptions,
  type StdioClientOptions,
} from '../transport/stdio/child-transport.ts'
export { printToStderr, type PrintingConsole } from '../transport/stdio/print-to-stderr.ts'
export {
  serveStandardStreams,
  type ServeStdioOptions,
  type StdioHost,
} from '../transport/stdio/serve-stdio.ts'
