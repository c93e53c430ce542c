/**
 * The notifications of change: who may hear of them, and what they mean.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
import { notification, type JsonRpcNotification } from '../protocol/jsonrpc.ts'
import type { ServerCapabilities, SubscriptionFilter } from '../protocol/types.ts'
import type { ResultCache } from './cache.ts'
import type { Hooks } from './options.ts'

/** The lists that can change. */
const lists = [
  {
    filter: 'toolsListChanged',
    method: 'notifications/tools/list_changed',
    hook: 'onToolsChanged',
    stale: ['tools/list'],
    offered: (server: ServerCapabilities) => server.tools?.listChanged,
  },
  {
    filter: 'promptsListChanged',
    method: 'notifications/prompts/list_changed',
    hook: 'onPromptsChanged',
    stale: ['prompts/list'],
    offered: (server: ServerCapabilities) => server.prompts?.listChanged,
  },
  {
    filter: 'resourcesListChanged',
    method: 'notifications/resources/list_changed',
    hook: 'onResourcesChanged',
    stale: ['resources/list', 'resources/templates/list'],
    offered: (server: ServerCapabilities) => server.resources?.listChanged,
  },
] as const

const UPDATED = 'notifications/resources/updated'

/** The part of a filter that a server's capabilities allow. */
export function offered(
  wanted: SubscriptionFilter,
  server: ServerCapabilities = {},
): SubscriptionFilter {
  const part: SubscriptionFilter = {}
  for (const list of lists)
    if (wanted[list.filter] && list.offered(server)) part[list.filter] = true
  const { resourceSubscriptions: uris = [] } = wanted
  if (uris.length > 0 && server.resources?.subscribe) part.resourceSubscriptions = uris
  return part
}

/** What the hooks want to hear of. */
export function hooked(hooks: Hooks, uris: string[]): SubscriptionFilter {
  const wanted: SubscriptionFilter = { resourceSubscriptions: uris }
  for (const { filter, hook } of lists) wanted[filter] = hooks[hook] !== undefined
  return wanted
}

/** Whether a filter lets a notification through; resources inside a wanted one count. */
export function covers(
  filter: SubscriptionFilter,
  { method, params }: JsonRpcNotification,
): boolean {
  if (method !== UPDATED) return lists.some((one) => one.method === method && filter[one.filter])
  const changed = String(params?.uri)
  return (filter.resourceSubscriptions ?? []).some((uri) => changed.startsWith(uri))
}

/** One notification of everything that a filter lets through. */
export function missed(filter: SubscriptionFilter): JsonRpcNotification[] {
  return [
    ...lists.filter((one) => filter[one.filter]).map((one) => notification(one.method)),
    ...(filter.resourceSubscriptions ?? []).map((uri) => notification(UPDATED, { uri })),
  ]
}

/** Forgets the results that a change has made stale. */
export function forget(cache: ResultCache, { method, params }: JsonRpcNotification): void {
  if (method === UPDATED) cache.forgetResource(String(params?.uri))
  for (const one of lists) if (one.method === method) cache.forget(...one.stale)
}

/** Calls the hook of a change. */
export function fire(hooks: Hooks, { method, params }: JsonRpcNotification): void {
  if (method === UPDATED) hooks.onResourceUpdated?.(String(params?.uri))
  for (const one of lists) if (one.method === method) hooks[one.hook]?.()
}
