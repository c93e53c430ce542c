/**
 * Every method that a client can call, as data. The handlers of a server are listed in
 * `presets/server.ts` and `presets/server-tiny.ts`; a method that is missing here is rejected as unknown.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/schema
 */
import type { RevisionFacts } from './revisions.ts'
import type { ServerCapabilities } from './types.ts'
import { memberAt } from './validate.ts'

/** The static properties of a method. */
export interface MethodFacts {
  /** The only era in which the method exists. Absent if it exists in both. */
  readonly era?: 'legacy' | 'modern'
  /** The server capability that the method needs, as a path into its capabilities. */
  readonly capability?: readonly string[]
  /** The name of the param that the `Mcp-Name` header repeats (2026-07-28, basic/transports). */
  readonly nameParam?: string
  /** Whether the result carries cache hints (2026-07-28, server/utilities/caching). */
  readonly cacheable?: true
  /** Whether the server may request input before it answers (2026-07-28, basic/patterns/mrtr). */
  readonly mayAsk?: true
  /** The path to the array that every result of the method must contain. */
  readonly array?: readonly string[]
}

/** The method table. A `Map`, so that a method called `__proto__` is simply unknown. */
export const methods: ReadonlyMap<string, MethodFacts> = new Map<string, MethodFacts>([
  ['initialize', { era: 'legacy' }],
  ['ping', { era: 'legacy' }],
  ['server/discover', { era: 'modern', cacheable: true }],
  ['subscriptions/listen', { era: 'modern' }],
  ['tools/list', { capability: ['tools'], cacheable: true, array: ['tools'] }],
  ['tools/call', { capability: ['tools'], nameParam: 'name', mayAsk: true }],
  ['resources/list', { capability: ['resources'], cacheable: true, array: ['resources'] }],
  [
    'resources/templates/list',
    { capability: ['resources'], cacheable: true, array: ['resourceTemplates'] },
  ],
  [
    'resources/read',
    {
      capability: ['resources'],
      nameParam: 'uri',
      cacheable: true,
      mayAsk: true,
      array: ['contents'],
    },
  ],
  ['resources/subscribe', { era: 'legacy', capability: ['resources', 'subscribe'] }],
  ['resources/unsubscribe', { era: 'legacy', capability: ['resources', 'subscribe'] }],
  ['prompts/list', { capability: ['prompts'], cacheable: true, array: ['prompts'] }],
  [
    'prompts/get',
    { capability: ['prompts'], nameParam: 'name', mayAsk: true, array: ['messages'] },
  ],
  ['completion/complete', { capability: ['completions'], array: ['completion', 'values'] }],
  ['logging/setLevel', { era: 'legacy', capability: ['logging'] }],
])

/**
 * Whether a server with these capabilities supports a method. Every server supports a method that
 * needs no capability.
 */
export function offers(
  capabilities: ServerCapabilities,
  { capability = [] }: MethodFacts,
): boolean {
  return Boolean(memberAt(capabilities, capability))
}

/** The properties of a method, if the revision has it. */
export function findMethod(method: string, revision: RevisionFacts): MethodFacts | undefined {
  const facts = methods.get(method)
  return facts?.era && facts.era !== revision.era ? undefined : facts
}
