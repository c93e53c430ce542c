/**
 * The methods that change a session's state. Loaded with support for sessions.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions
 */
import { findMethod, offers } from '../../protocol/methods.ts'
import type { RevisionFacts } from '../../protocol/revisions.ts'
import type { Method, MethodTarget, ServerDefinition } from '../definition.ts'
import { setLevel } from '../features/logging.ts'
import { subscribeResource, unsubscribeResource } from '../features/resource-subscriptions.ts'

const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['resources/subscribe', subscribeResource],
  ['resources/unsubscribe', unsubscribeResource],
  ['logging/setLevel', setLevel],
])

/**
 * Finds the handler of a method that changes the session, if the server offers it in this revision;
 * `undefined` for all other methods.
 */
export function resolveSessionMethod(
  server: ServerDefinition,
  method: string,
  revision: RevisionFacts,
): MethodTarget | undefined {
  const run = METHODS.get(method)
  const facts = run && findMethod(method, revision)
  return facts && server.notify && offers(server.offered, facts) ? { facts, run } : undefined
}
