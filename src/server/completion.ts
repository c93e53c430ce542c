/**
 * Completion of prompt arguments and of template variables.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion
 */
import { INVALID_PARAMS, ProtocolError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type {
  CompleteParams,
  CompleteResult,
  CompletionReference,
  Result,
} from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import type { Context, RequestContext } from './context.ts'

/** The most values that one answer carries. */
const MAX_VALUES = 100

/**
 * Completes one argument.
 *
 * @param value What was typed so far.
 * @param context What the other arguments are so far, where the client says (since 2025-06-18).
 */
export type Completer = (
  value: string,
  context: { readonly [name: string]: string },
  ctx: Context,
) => readonly string[] | Promise<readonly string[]>

/** Completers by the name of the argument. */
export interface Completers {
  readonly [argument: string]: Completer
}

/**
 * Completes an argument of a prompt or a variable of a template. Of more than 100 values the first
 * 100 are sent, with the total. An argument without a completer has no values.
 *
 * @param find The completers of what a reference names; throws when it names nothing.
 * @throws {ProtocolError} `INVALID_PARAMS` when the params are malformed.
 */
export async function complete(
  params: JsonObject,
  ctx: RequestContext,
  find: (ref: CompletionReference) => Completers | undefined,
): Promise<Result> {
  const { ref, argument, context } = requireParams(params)
  const completers = find(ref)
  const completer =
    completers && Object.hasOwn(completers, argument.name) ? completers[argument.name] : undefined
  const found = (await completer?.(argument.value, context?.arguments ?? {}, ctx)) ?? []
  const values = found.slice(0, MAX_VALUES)
  const completion = { values, total: found.length, hasMore: found.length > values.length }
  return { completion } satisfies CompleteResult
}

function requireParams(params: JsonObject): CompleteParams {
  const { ref, argument, context } = params
  const named = isObject(ref) ? (ref.type === 'ref/prompt' ? ref.name : ref.uri) : undefined
  if (
    !isObject(ref) ||
    (ref.type !== 'ref/prompt' && ref.type !== 'ref/resource') ||
    typeof named !== 'string'
  ) {
    throw new ProtocolError(INVALID_PARAMS, '"ref" must name a prompt or a resource')
  }
  if (
    !isObject(argument) ||
    typeof argument.name !== 'string' ||
    typeof argument.value !== 'string'
  ) {
    throw new ProtocolError(INVALID_PARAMS, '"argument" must have a "name" and a "value"')
  }
  if (context !== undefined && !(isObject(context) && isObject(context.arguments ?? {}))) {
    throw new ProtocolError(INVALID_PARAMS, '"context" must be an object')
  }
  return params as JsonObject & CompleteParams
}
