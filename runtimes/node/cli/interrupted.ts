/**
 * Interrupts a command after a signal, or when the pipe for its output is closed.
 *
 * @see https://nodejs.org/api/process.html#signal-events
 */
import { constants } from 'node:os'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
type Signal = (typeof signals)[number]

/** How long an interrupted command may take to end, in milliseconds. Ending a child process takes up to 4,000 ms. */
const GRACE_MS = 5000

const controller = new AbortController()

/**
 * The signal that aborts when the process is interrupted. The command then aborts its requests, and closes its
 * connections normally.
 */
export const interruption: AbortSignal = controller.signal

/** The lifetime of a command that runs until it is interrupted, or until `end` is called. */
export interface Lifetime {
  /** Ends the lifetime with a reason, such as the exit of a program. */
  readonly end: (reason: Error) => void
  /**
   * Resolves when the process is interrupted. Rejects with the reason if `end` was called.
   */
  readonly untilEnd: () => Promise<void>
}

/** Starts a lifetime. */
export function lifetime(): Lifetime {
  let end: Lifetime['end'] = () => {}
  const ended = new Promise<Error | undefined>((resolve) => {
    end = resolve
    if (interruption.aborted) resolve(undefined)
    else interruption.addEventListener('abort', () => resolve(undefined))
  })
  return {
    end,
    async untilEnd() {
      const reason = await ended
      if (reason) throw reason
    },
  }
}

/**
 * Interrupts the process with the exit status for a signal. The second call exits immediately.
 */
export function interrupt(signal: Signal): void {
  const status = statusOf(signal)
  if (interruption.aborted) process.exit(status)
  controller.abort(signal)
  setTimeout(() => process.exit(status), GRACE_MS).unref()
}

/** The exit status of a command that was interrupted. */
export function interruptedStatus(): number {
  return statusOf(interruption.reason as Signal)
}

/**
 * Listens for interruptions: signals, and the closing of the output pipe by its reader, such as `head`. By
 * default, both would end the process immediately and leave its child processes running.
 */
export function listenForInterruptions(): void {
  for (const signal of signals) process.on(signal, () => interrupt(signal))
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // The reader needs no more output, so the command ends, with the status of SIGTERM
    if (error.code === 'EPIPE') return controller.abort('SIGTERM')
    process.stderr.write(`Cannot print: ${error.message}\n`)
    process.exit(1)
  })
  // An error of stderr is ignored, because it could not be printed
  process.stderr.on('error', () => {})
}

function statusOf(signal: Signal): number {
  return 128 + constants.signals[signal]
}
