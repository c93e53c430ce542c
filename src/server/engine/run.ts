/**
 * Runs the method of a request once, including middleware.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#messages
 */
import { andThen, whenSettled, type Awaitable } from '../../patterns/awaitable.ts'
import { ProtocolError } from '../../protocol/errors.ts'
import { URL_ELICITATION_REQUIRED } from '../../protocol/error-codes.ts'
import type { Result, JsonObject } from '../../protocol/types.ts'
import { isObject, memberAt } from '../../protocol/validate.ts'
import type { Method, MethodTarget, ServerDefinition } from '../definition.ts'
import { Suspension, type Outcome } from '../request/outcome.ts'
import type { InternalContext } from '../request/base-request-context.ts'

/**
 * Runs a method once.
 *
 * @throws {TypeError} If the return value is not a valid result of the method; any error of the
 * handler or middleware.
 */
export function runMethod(
  server: ServerDefinition,
  target: MethodTarget,
  ctx: InternalContext,
): Awaitable<Outcome> {
  ctx.server = server
  const settled = settle(ctx, () =>
    server.middleware.length > 0
      ? applyMiddleware(server, ctx.params, ctx, target.run)
      : target.run(server, ctx.params, ctx, target.tool),
  )
  return andThen(settled, (outcome) => {
    if (outcome instanceof Suspension) return outcome
    // Methods such as `ping` and `resources/subscribe` return nothing: their result is `{}`
    if (!outcome && target.facts.era === 'legacy') return {}
    const fault = resultFault(server, target, ctx, outcome)
    if (fault !== undefined) throw new TypeError(fault)
    return outcome
  })
}

/**
 * Runs a request through a server's middleware. A tool that was looked up before is not passed on:
 * middleware may change which tools the caller sees, so `callTool` looks it up again.
 */
export function applyMiddleware(
  server: ServerDefinition,
  params: JsonObject,
  ctx: InternalContext,
  run: Method,
): Result | Promise<Result> {
  const { method } = ctx
  const applicable = server.middleware.filter((applied) => (applied.method ?? method) === method)
  const runFrom = async (index: number, current: JsonObject): Promise<Result> => {
    ctx.params = current
    const middleware = applicable[index]
    if (!middleware) return run(server, current, ctx)
    const next = (changed = current): Promise<Result> => runFrom(index + 1, changed)
    return middleware.run({ method, params: current }, ctx, next)
  }
  return runFrom(0, params)
}

/** The result types of the core protocol. */
const RESULT_TYPES: readonly unknown[] = ['complete', 'input_required']

/**
 * Why a value is not a valid result of the method; `undefined` if it is. Middleware may return any
 * value.
 */
function resultFault(
  { extensions }: ServerDefinition,
  { facts: methodFacts }: MethodTarget,
  ctx: InternalContext,
  result: Result | undefined,
): string | undefined {
  const { method } = ctx
  const { resultType: kind = 'complete' } = result ?? {}
  if (!isObject(result) || !(RESULT_TYPES.includes(kind) || extensions?.allows(result, ctx))) {
    return `The answer to "${method}" is not a result of a known type`
  }
  if (kind !== 'complete') return undefined
  // A call that became a 2025-11-25 task has no content yet
  const arrayPath =
    method === 'tools/call' && !isObject(result.task) ? ['content'] : methodFacts.array
  if (!arrayPath || Array.isArray(memberAt(result, arrayPath))) return undefined
  return `The answer to "${method}" lacks "${arrayPath.at(-1)}"`
}

/**
 * Waits until one run has settled, and ends it: nothing can be sent afterwards. Suspensions are
 * created only here.
 *
 * @throws The error of the run, unless the run is suspended.
 */
export function settle(ctx: InternalContext, run: () => Awaitable<Result>): Awaitable<Outcome> {
  return whenSettled<Result, Outcome>(
    run,
    (result) => {
      const unanswered = ctx.endRun()
      if (unanswered) return new Suspension({ kind: 'questions', replay: unanswered })
      return result?.resultType === 'input_required'
        ? new Suspension({ kind: 'result', result })
        : result
    },
    (error) => {
      const unanswered = ctx.endRun()
      if (unanswered) return new Suspension({ kind: 'questions', replay: unanswered })
      if (error instanceof ProtocolError && error.code === URL_ELICITATION_REQUIRED) {
        return new Suspension({ kind: 'urls', error })
      }
      throw error
    },
  )
}
