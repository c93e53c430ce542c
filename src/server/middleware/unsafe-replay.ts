/**
 * A development check for a mistake that types cannot detect: code before an input request runs
 * again when the response arrives, unless it is in a step.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
import type { Input } from '../../patterns/input.ts'
import { targetOf } from '../../patterns/guard-observer.ts'
import { findMethod } from '../../protocol/methods.ts'
import { RequestContext } from '../request/request-context.ts'
import type { Middleware } from '../server.ts'

/**
 * Warns about each handler that awaits something, such as a request or a database query, outside of
 * `ctx.step` before it asks its client for input: since 2026-07-28 that work is repeated for each
 * response. Also warns about steps that ask for input, because such steps cannot be recorded.
 *
 * The middleware detects only asynchronous work. It does so in every revision, and before anything is
 * repeated. Use it only in development, because it starts a timer for each request:
 * `server.use(warnOnUnsafeReplay())`, before other middleware.
 *
 * @param warn Called once for each handler; `console.error` by default.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
export function warnOnUnsafeReplay(
  warn: (problem: string) => void = (problem) => console.error(problem),
): Middleware {
  const reported = new Set<string>()
  return async ({ method, params }, ctx, next) => {
    if (!(ctx instanceof RequestContext) || !findMethod(method, ctx.exchange.revision)?.mayAsk) {
      return next()
    }
    const { name, uri } = targetOf(params)
    const observer = new HandlerObserver((problem) => {
      const text = `"${method}" of "${name ?? uri}" ${problem}`
      if (!reported.has(text)) warn(text)
      reported.add(text)
    })
    observer.observeInput(ctx.input)
    observer.ignoreSending(ctx)
    observer.restart()
    return next().finally(() => observer.stop())
  }
}

/** Observes one run of a handler. */
class HandlerObserver {
  readonly #report: (problem: string) => void
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Whether the handler awaited anything since the last response or step. */
  #hasAwaited = false
  /** The name of the step whose function is being called. */
  #step: string | undefined

  constructor(report: (problem: string) => void) {
    this.#report = report
  }

  /**
   * Restarts detection after a response or step, which the next run receives immediately from its
   * recording.
   */
  restart(): void {
    this.stop()
    this.#hasAwaited = false
    // A handler that awaits nothing else requests input before any timer fires
    this.#timer = setTimeout(() => {
      this.#hasAwaited = true
    })
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  /** Observes input requests and steps. */
  observeInput(input: Input): void {
    const ask = input.ask.bind(input)
    const step = input.step.bind(input)
    const observed: Input = {
      ask: (question) => {
        if (this.#step !== undefined) {
          this.#report(
            `requests input inside the step "${this.#step}": request it before or after the step`,
          )
        } else if (this.#hasAwaited) {
          this.#report(
            `awaited something before it requested "${question.request.method}": that work is repeated after each response, unless it is in ctx.step`,
          )
        }
        return this.#restartAfter(ask(question))
      },
      step: (name, run) => this.#restartAfter(step(name, () => this.#runStep(name, run))),
    }
    Object.assign(input, observed)
  }

  /** Excludes the time that it takes to send messages. */
  ignoreSending(ctx: RequestContext): void {
    const progress = ctx.progress.bind(ctx)
    const log = ctx.log.bind(ctx)
    Object.assign(ctx, {
      progress: (...args: Parameters<typeof progress>) => this.#restartAfter(progress(...args)),
      log: (...args: Parameters<typeof log>) => this.#restartAfter(log(...args)),
    })
  }

  #runStep<T>(name: string, run: () => T): T {
    this.#step = name
    try {
      return run()
    } finally {
      this.#step = undefined
    }
  }

  #restartAfter<T>(work: Promise<T>): Promise<T> {
    const restart = (): void => this.restart()
    work.then(restart, restart)
    return work
  }
}
