/**
 * Completion of prompt arguments and template variables.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion
 */
import type { CompleteResult, Result, JsonObject } from '../../protocol/types.ts'
import type { Context } from '../request/context.ts'
import type { InternalContext } from '../request/base-request-context.ts'
import type { Requester } from '../request/exchange.ts'
import { invalidParams, optionalObject, requireObject, requireString } from '../request/params.ts'
import type { Entry, Registry } from '../registry.ts'

/** The maximum number of values in one result, set by the specification. */
const MAX_VALUES = 100

/**
 * Completes one argument.
 *
 * @param value The text typed so far.
 * @param context The other arguments so far, if the client sends them (since 2025-06-18).
 */
export type Completer<Env = unknown> = (
  value: string,
  context: { readonly [name: string]: string },
  ctx: Context<Env>,
) => readonly string[] | Promise<readonly string[]>

/** Completers, keyed by argument name. */
export interface Completers<Env = unknown> {
  readonly [argument: string]: Completer<Env>
}

/** The registries that completion reads. */
interface Completable {
  readonly prompts: Registry<CompletableEntry>
  readonly resources: Registry<Entry>
  readonly resourceTemplates: Registry<CompletableEntry>
}

interface CompletableEntry extends Entry {
  readonly complete: Completers | undefined
}

/**
 * Completes a prompt argument or a template variable. If there are more than 100 values, the first
 * 100 are sent, with the total. An argument without a completer has no values.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` if the params are malformed or refer to an unknown
 * prompt or resource.
 */
export async function complete(
  server: Completable,
  params: JsonObject,
  ctx: InternalContext,
): Promise<Result> {
  const completers = findCompleters(server, requireObject(params, 'ref'), ctx)
  const argument = requireObject(params, 'argument')
  const name = requireString(argument, 'name')
  const value = requireString(argument, 'value')
  const otherArguments = optionalObject(optionalObject(params, 'context'), 'arguments')
  for (const argumentName of Object.keys(otherArguments))
    requireString(otherArguments, argumentName)
  const completer = completers && Object.hasOwn(completers, name) ? completers[name] : undefined
  const suggestions =
    (await completer?.(value, otherArguments as Record<string, string>, ctx)) ?? []
  const values = suggestions.slice(0, MAX_VALUES)
  const completion = {
    values,
    total: suggestions.length,
    hasMore: suggestions.length > values.length,
  }
  return { completion } satisfies CompleteResult
}

function findCompleters(
  { prompts, resources, resourceTemplates }: Completable,
  ref: JsonObject,
  requester: Requester,
): Completers | undefined {
  if (ref.type === 'ref/prompt')
    return prompts.require(requireString(ref, 'name'), requester).complete
  if (ref.type !== 'ref/resource') throw invalidParams('"ref" must name a prompt or a resource')
  const uri = requireString(ref, 'uri')
  // A resource with a fixed URI has no variables to complete.
  if (resources.find(uri, requester)) return undefined
  return resourceTemplates.require(uri, requester).complete
}
