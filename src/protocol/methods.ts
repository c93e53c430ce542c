/**
 * Every method that a client can call, as data. The presets list what answers them on a server; a method
 * that is missing here is refused as unknown, even if they list it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/schema
 */
import type { RevisionFacts } from './revisions.ts'
import type { ServerCapabilities } from './types.ts'
import { memberAt } from './validate.ts'

/** What is known of a method without running it. */
export interface MethodFacts {
  /** The only era that has the method; both when absent. */
  readonly era?: 'legacy' | 'modern'
  /** The capability of the server that the method needs, as a path into its capabilities. */
  readonly capability?: readonly string[]
  /** The param that the `Mcp-Name` header repeats (2026-07-28, basic/transports). */
  readonly nameParam?: string
  /** Whether the result says for how long it may be kept (2026-07-28, server/utilities/caching). */
  readonly cacheable?: true
  /** Whether the server may ask for input before it answers (2026-07-28, basic/patterns/mrtr). */
  readonly mayAsk?: true
  /** The array that its result has for certain, as a path into the result. */
  readonly array?: readonly string[]
}

/** The method table. A `Map`, so that a method called `__proto__` is just unknown. */
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

/** Whether a server with these capabilities offers a method. */
export function offers(
  capabilities: ServerCapabilities,
  { capability = [] }: MethodFacts,
): boolean {
  return Boolean(memberAt(capabilities, capability))
}

/** The facts of a method if the revision has it. */
export function findMethod(method: string, revision: RevisionFacts): MethodFacts | undefined {
  const facts = methods.get(method)
  return facts?.era && facts.era !== revision.era ? undefined : facts
}

/** Whether a request only looks at what there is, so that the server has nothing to ask meanwhile. */
export function isListing({ method }: { readonly method: string }): boolean {
  const facts = methods.get(method)
  return facts?.cacheable === true && !facts.mayAsk
}
