/**
 * Finds, while a server is developed, the mistake that no type can: what a handler does before a
 * question happens again when the answer comes, unless a step keeps it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
import type { Input } from '../../patterns/input.ts'
import { findMethod } from '../../protocol/methods.ts'
import { RequestContext } from '../request/request-context.ts'
import type { Middleware } from '../server.ts'

/**
 * Warns of each handler that waits for something, such as a request or a database, and then asks its
 * client, without having put the wait into `ctx.step`: since 2026-07-28 that is done again with each
 * answer. Warns as well of steps that ask, which cannot be kept.
 *
 * It finds this in every revision and before anything is repeated, but sees only what is waited for.
 * It is meant for development, as it takes a timer for each request: `server.use(warnOnUnsafeReplay())`,
 * before other middleware.
 *
 * @param warn Is told of each handler once; `console.error` by default.
 */
export function warnOnUnsafeReplay(
  warn: (problem: string) => void = (problem) => console.error(problem),
): Middleware {
  const told = new Set<string>()
  return async ({ method, params }, ctx, next) => {
    if (!(ctx instanceof RequestContext) || !findMethod(method, ctx.exchange.revision)?.mayAsk) {
      return next()
    }
    const watch = new Watch((problem) => {
      const text = `"${method}" of "${String(params.name ?? params.uri)}" ${problem}`
      if (!told.has(text)) warn(text)
      told.add(text)
    })
    watch.input(ctx.input)
    watch.sending(ctx)
    watch.rest()
    return next().finally(() => watch.stop())
  }
}

/** Watches one run of a handler. */
class Watch {
  readonly #tell: (problem: string) => void
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Whether something was waited for since the last answer or step. */
  #waited = false
  /** The step whose function is being called. */
  #step: string | undefined

  constructor(tell: (problem: string) => void) {
    this.#tell = tell
  }

  /** Notes that what comes next begins with what the next run will have at once. */
  rest(): void {
    this.stop()
    this.#waited = false
    // Handlers that wait for nothing else ask before any timer fires
    this.#timer = setTimeout(() => {
      this.#waited = true
    })
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  /** Follows what is asked, and which steps are made. */
  input(input: Input): void {
    const ask = input.ask.bind(input)
    const step = input.step.bind(input)
    const changed: Input = {
      ask: (question) => {
        if (this.#step !== undefined) {
          this.#tell(`asks its client inside the step "${this.#step}": ask before it, or after it`)
        } else if (this.#waited) {
          this.#tell(
            `waited for something before it asked for "${question.request.method}": with each answer that happens again, unless ctx.step keeps it`,
          )
        }
        return this.#after(ask(question))
      },
      step: (name, run) => this.#after(step(name, () => this.#within(name, run))),
    }
    Object.assign(input, changed)
  }

  /** Notes that messages may take their time. */
  sending(ctx: RequestContext): void {
    const progress = ctx.progress.bind(ctx)
    const log = ctx.log.bind(ctx)
    Object.assign(ctx, {
      progress: (...args: Parameters<typeof progress>) => this.#after(progress(...args)),
      log: (...args: Parameters<typeof log>) => this.#after(log(...args)),
    })
  }

  #within<T>(name: string, run: () => T): T {
    this.#step = name
    try {
      return run()
    } finally {
      this.#step = undefined
    }
  }

  #after<T>(work: Promise<T>): Promise<T> {
    const rest = (): void => this.rest()
    work.then(rest, rest)
    return work
  }
}
