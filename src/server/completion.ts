/**
 * Completion of prompt arguments and of template variables.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion
 */
import { INVALID_PARAMS, ProtocolError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { CompleteParams, CompleteResult, Result } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import type { Context, RequestContext } from './context.ts'
import type { ServerDefinition } from './server.ts'

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
 * @throws {ProtocolError} `INVALID_PARAMS` when the reference names nothing.
 */
export async function complete(
  server: ServerDefinition,
  params: JsonObject,
  ctx: RequestContext,
): Promise<Result> {
  const { ref, argument, context } = requireParams(params)
  const completers = findCompleters(server, ref, ctx)
  const completer =
    completers && Object.hasOwn(completers, argument.name) ? completers[argument.name] : undefined
  const found = (await completer?.(argument.value, context?.arguments ?? {}, ctx)) ?? []
  const values = found.slice(0, MAX_VALUES)
  const completion = { values, total: found.length, hasMore: found.length > values.length }
  return { completion } satisfies CompleteResult
}

function findCompleters(
  server: ServerDefinition,
  ref: CompleteParams['ref'],
  { caller }: RequestContext,
): Completers | undefined {
  if (ref.type === 'ref/prompt') {
    const entry = server.prompts.find(ref.name, caller)
    if (entry) return entry.complete
    throw new ProtocolError(INVALID_PARAMS, `Unknown prompt: "${ref.name}"`)
  }
  const template = server.resourceTemplates.find(ref.uri, caller)
  if (template) return template.complete
  if (server.resources.find(ref.uri, caller)) return undefined
  throw new ProtocolError(INVALID_PARAMS, `Unknown resource template: "${ref.uri}"`)
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
