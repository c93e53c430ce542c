/**
 * Which results a method may have, whoever gives them: middleware may give any.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#responses
 */
import type { MethodFacts } from '../../protocol/methods.ts'
import type { Result } from '../../protocol/types.ts'
import { isObject, memberAt } from '../../protocol/validate.ts'
import type { Extensions } from '../features/extensions.ts'
import type { RequestContext } from '../request/request-context.ts'

/** The kinds of results that there are without extensions. */
const KINDS: readonly unknown[] = ['complete', 'input_required']

/** Why something is no result of the method that was asked for, if it is none. */
export function resultFault(
  result: Result | undefined,
  ctx: RequestContext,
  facts: MethodFacts,
  extensions: Extensions | undefined,
): string | undefined {
  const { method } = ctx
  const { resultType: kind = 'complete' } = result ?? {}
  if (!isObject(result) || !(KINDS.includes(kind) || extensions?.allows(result, ctx))) {
    return `The answer to "${method}" is no result of a known kind`
  }
  if (kind !== 'complete') return undefined
  // A call that became a task of 2025-11-25 has no content yet
  const path = method === 'tools/call' && !isObject(result.task) ? ['content'] : facts.array
  if (!path || Array.isArray(memberAt(result, path))) return undefined
  return `The answer to "${method}" lacks "${path.at(-1)}"`
}
