/**
 * Change notifications: which of them a server supports, which of them a filter matches, and which hooks
 * they call.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
import { notification } from '../../protocol/jsonrpc.ts'
import type {
  ServerCapabilities,
  SubscriptionFilter,
  JsonRpcNotification,
} from '../../protocol/types.ts'
import type { Hooks } from '../options.ts'
import { isWithin } from '../uri-scope.ts'
import { RESOURCE_UPDATED } from './stale-results.ts'

/** The lists that can change, and their hooks. */
const lists = [
  ['tools', 'onToolsChanged'],
  ['prompts', 'onPromptsChanged'],
  ['resources', 'onResourcesChanged'],
] as const

function listChangedMethod(list: string): string {
  return `notifications/${list}/list_changed`
}

/** The part of a filter that a server's capabilities support, if any. */
export function supportedFilter(
  wanted: SubscriptionFilter,
  {
    serverCapabilities: server = {},
  }: { readonly serverCapabilities: ServerCapabilities | undefined },
): SubscriptionFilter | undefined {
  const supported: SubscriptionFilter = {}
  for (const [list] of lists) {
    if (wanted[`${list}ListChanged`] && server[list]?.listChanged)
      supported[`${list}ListChanged`] = true
  }
  const { resourceSubscriptions: uris } = wanted
  if (uris?.length && server.resources?.subscribe) supported.resourceSubscriptions = uris
  return Object.keys(supported).length > 0 ? supported : undefined
}

/** The filter that the hooks need. If `hooks` is absent, a filter for the changes of all lists. */
export function filterOfHooks(hooks?: Hooks): SubscriptionFilter {
  const wanted: SubscriptionFilter = {}
  for (const [list, hook] of lists) wanted[`${list}ListChanged`] = !hooks || Boolean(hooks[hook])
  return wanted
}

/** Whether a filter matches a notification. Resources inside a subscribed resource match too. */
export function matchesFilter(filter: SubscriptionFilter, message: JsonRpcNotification): boolean {
  const changedUri = String(message.params?.uri)
  return notificationsFor(filter).some(({ method, params }) => {
    return method === message.method && (!params || isWithin(changedUri, String(params.uri)))
  })
}

/** One notification for each list and each resource of a filter. */
export function notificationsFor(filter: SubscriptionFilter): JsonRpcNotification[] {
  return [
    ...lists
      .filter(([list]) => filter[`${list}ListChanged`])
      .map(([list]) => notification(listChangedMethod(list))),
    ...(filter.resourceSubscriptions ?? []).map((uri) => notification(RESOURCE_UPDATED, { uri })),
  ]
}

/** Calls the hook of a change. Returns what the hook returns. */
export function callChangeHook(hooks: Hooks, { method, params }: JsonRpcNotification): unknown {
  if (method === RESOURCE_UPDATED) return hooks.onResourceUpdated?.(String(params?.uri))
  const [, hook] = lists.find(([list]) => method === listChangedMethod(list)) ?? []
  return hook && hooks[hook]?.()
}
