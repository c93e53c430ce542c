/**
 * The end that comes before a command is done: by a signal, or as nobody reads what it prints.
 *
 * @see https://nodejs.org/api/process.html#signal-events
 */
import { constants } from 'node:os'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
type Signal = (typeof signals)[number]

/** How long what runs may take to end, in milliseconds: a program that is closed gets twice 2 s. */
const GRACE_MS = 5000

const controller = new AbortController()

/** Fires when the program is to end: requests end with it, and connections are closed as ever. */
export const interruption: AbortSignal = controller.signal

/** How long a command goes on that ends only when something else does. */
export interface Lifetime {
  /** Ends it, as what it lives by has ended. */
  readonly end: (reason: Error) => void
  /** Resolves when the program is to end; rejects with the reason when it was ended. */
  readonly over: () => Promise<void>
}

/** Begins a lifetime. */
export function lifetime(): Lifetime {
  let end: Lifetime['end'] = () => {}
  const ended = new Promise<Error | undefined>((resolve) => {
    end = resolve
    if (interruption.aborted) resolve(undefined)
    else interruption.addEventListener('abort', () => resolve(undefined))
  })
  return {
    end,
    async over() {
      const reason = await ended
      if (reason) throw reason
    },
  }
}

/** Has the program end, with the exit status that a signal stands for; at once, the second time. */
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
 * Listens for all that interrupts: signals, and a pipe that was closed at its other end, as by
 * `head`. Without this, either would end the program on the spot and leave what it has started.
 */
export function listenForInterruptions(): void {
  for (const signal of signals) process.on(signal, () => interrupt(signal))
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // Who reads no more has read enough.
    if (error.code === 'EPIPE') return controller.abort('SIGTERM')
    process.stderr.write(`Cannot print: ${error.message}\n`)
    process.exit(1)
  })
  process.stderr.on('error', () => {})
}

function statusOf(signal: Signal): number {
  return 128 + constants.signals[signal]
}
