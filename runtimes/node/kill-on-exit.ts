/**
 * Ends child processes together with this process. If a signal ends this process, Node emits no `exit`, so
 * signals are handled too. Deno and Bun also run this module, through their Node compatibility.
 *
 * @see https://nodejs.org/api/process.html#signal-events
 */
import type { ChildProcess } from '#internal/stdio'

type KillFunction = ChildProcess['kill']

/** The signals that end a process by default and can be handled, with their numbers. */
const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const
type Signal = keyof typeof SIGNALS
/** The grace period for children after SIGTERM when a signal ends this process, in milliseconds. */
const GRACE_MS = 1000
/** How often to check whether the children have exited, in milliseconds. */
const POLL_MS = 20
/** How long a signal may take to end this process, in milliseconds. */
const EXIT_MS = 20

/** For each running child, the function that sends signals to it. */
const killFunctions = new Set<KillFunction>()

/**
 * Ends a child together with this process, unless the child and its descendants have exited before. The
 * child receives SIGTERM when this process exits, or when a signal is about to end this process. In the second
 * case, this process ends when the child has exited, but at most a second later. A child that still runs then
 * receives SIGKILL.
 *
 * If the application handles the signal itself, the child receives nothing.
 *
 * @param send Sends a signal to the child, and returns whether it or a descendant is still running.
 * @returns A function to use in place of `send`, so that this module notices when the child has
 *   exited.
 */
export function killOnExit(send: KillFunction): KillFunction {
  const kill: KillFunction = (signal) => {
    const isRunning = send(signal)
    if (!isRunning || signal === 'SIGKILL') stopTracking(kill)
    return isRunning
  }
  if (killFunctions.size === 0) {
    process.on('exit', terminateAll)
    for (const signal in SIGNALS) process.on(signal, onSignal)
  }
  killFunctions.add(kill)
  return kill
}

function stopTracking(kill: KillFunction): void {
  if (killFunctions.delete(kill) && killFunctions.size === 0) stopListening()
}

function stopListening(): void {
  process.off('exit', terminateAll)
  for (const signal in SIGNALS) process.off(signal, onSignal)
}

function terminateAll(): void {
  for (const kill of killFunctions) kill('SIGTERM')
}

/** Ends the children, and then this process, unless the application handles the signal. */
function onSignal(signal: Signal): void {
  // With a second listener, the application handles the signal itself
  if (process.listenerCount(signal) > 1) return
  // Without the listener, a second signal ends this process at once
  stopListening()
  terminateAll()
  const deadline = performance.now() + GRACE_MS
  const timer = setInterval(() => {
    // SIGCONT, which does not affect a running child, only checks for exits: `kill` then stops tracking a child
    // that has exited
    for (const kill of killFunctions) kill('SIGCONT')
    if (killFunctions.size > 0 && performance.now() < deadline) return
    for (const kill of killFunctions) kill('SIGKILL')
    clearInterval(timer)
    endThisProcess(signal)
  }, POLL_MS)
}

/** Ends this process as the signal would have without a listener. */
function endThisProcess(signal: Signal): void {
  // Some runtimes do not restore the default effect of the signal, or are not permitted to send signals
  setTimeout(() => process.exit(128 + SIGNALS[signal]), EXIT_MS)
  try {
    process.kill(process.pid, signal)
  } catch {
    // The timer ends the process
  }
}
