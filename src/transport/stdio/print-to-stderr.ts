/**
 * Redirects console output from stdout to stderr, on runtimes whose console cannot be configured.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */

/** A method of a console that may print to stdout. */
type PrintMethod =
  | ('log' | 'info' | 'debug' | 'dir' | 'dirxml' | 'table' | 'trace' | 'count' | 'warn' | 'error')
  | ('group' | 'groupCollapsed' | 'timeLog' | 'timeEnd')

const PRINT_METHODS: readonly PrintMethod[] = [
  ...(['log', 'info', 'debug', 'dir', 'dirxml', 'table', 'trace', 'count'] as const),
  ...(['warn', 'error', 'group', 'groupCollapsed', 'timeLog', 'timeEnd'] as const),
]

/** The required part of a console. */
export type PrintingConsole = Record<Exclude<PrintMethod, 'error'>, (...data: never[]) => void> & {
  /** Prints to stderr. */
  error: (...data: unknown[]) => void
}

/**
 * Makes a console print everything as `error` does, to stderr, without the layout of tables, groups
 * and timers.
 */
export function printToStderr(console: PrintingConsole): void {
  const error = console.error.bind(console)
  // If `console.error` has no argument, Bun prints the newline to stdout
  const print = (...data: unknown[]): void => error(...(data.length > 0 ? data : ['']))
  for (const method of PRINT_METHODS) console[method] = print
}
