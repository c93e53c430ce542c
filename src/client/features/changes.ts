/**
 * Change notifications: who may receive them, and what they mean.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
import { notification } from '../../protocol/jsonrpc.ts'
import type {
  ServerCapabilities,
  SubscriptionFilter,
  JsonRpcNotification,
} from '../../protocol/types.ts'
import type { Cache } from '../features.ts'
import type { Hooks } from '../options.ts'
import { isWithin } from '../uri-scope.ts'

/** The lists that can change, and their hooks. */
const lists = [
  ['tools', 'onToolsChanged'],
  ['prompts', 'onPromptsChanged'],
  ['resources', 'onResourcesChanged'],
] as const

const UPDATED = 'notifications/resources/updated'

function methodOf(list: string): string {
  return `notifications/${list}/list_changed`
}

/** The part of a filter that a server's capabilities support, if any. */
export function offered(
  wanted: SubscriptionFilter,
  {
    serverCapabilities: server = {},
  }: { readonly serverCapabilities: ServerCapabilities | undefined },
): SubscriptionFilter | undefined {
  const part: SubscriptionFilter = {}
  for (const [list] of lists) {
    if (wanted[`${list}ListChanged`] && server[list]?.listChanged) part[`${list}ListChanged`] = true
  }
  const { resourceSubscriptions: uris } = wanted
  if (uris?.length && server.resources?.subscribe) part.resourceSubscriptions = uris
  return Object.keys(part).length > 0 ? part : undefined
}

/** The filter that the hooks need; changes of all lists where the revision allows no choice. */
export function hooked(hooks?: Hooks): SubscriptionFilter {
  const wanted: SubscriptionFilter = {}
  for (const [list, hook] of lists) wanted[`${list}ListChanged`] = !hooks || Boolean(hooks[hook])
  return wanted
}

/** Whether a filter matches a notification; resources inside a subscribed one match too. */
export function covers(filter: SubscriptionFilter, message: JsonRpcNotification): boolean {
  const changed = String(message.params?.uri)
  return missed(filter).some(({ method, params }) => {
    return method === message.method && (!params || isWithin(changed, String(params.uri)))
  })
}

/** One notification for everything that a filter matches. */
export function missed(filter: SubscriptionFilter): JsonRpcNotification[] {
  return [
    ...lists
      .filter(([list]) => filter[`${list}ListChanged`])
      .map(([list]) => notification(methodOf(list))),
    ...(filter.resourceSubscriptions ?? []).map((uri) => notification(UPDATED, { uri })),
  ]
}

/** Removes the cached results that a change has made stale. */
export function forget(cache: Cache | undefined, { method, params }: JsonRpcNotification): void {
  if (!cache) return
  if (method === UPDATED) cache.forgetResource(String(params?.uri))
  for (const [list] of lists) {
    if (method === methodOf(list)) cache.forget(`${list}/list`, `${list}/templates/list`)
  }
}

/** Calls the hook of a change. Returns what the hook returns. */
export function fire(hooks: Hooks, { method, params }: JsonRpcNotification): unknown {
  if (method === UPDATED) return hooks.onResourceUpdated?.(String(params?.uri))
  const [, hook] = lists.find(([list]) => method === methodOf(list)) ?? []
  return hook && hooks[hook]?.()
}
