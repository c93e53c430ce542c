/**
 * `subscriptions/listen`: change notifications on a stream of their own. `resources/subscribe`, of
 * earlier revisions, is in `resource-subscriptions.ts`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
import { ShutdownSignal } from '../../patterns/shutdown-signal.ts'
import { ProtocolError } from '../../protocol/errors.ts'
import { METHOD_NOT_FOUND } from '../../protocol/error-codes.ts'
import { notification } from '../../protocol/jsonrpc.ts'
import { META_SUBSCRIPTION_ID } from '../../protocol/meta.ts'
import type {
  Meta,
  Result,
  ServerCapabilities,
  SubscriptionFilter,
  JsonObject,
  JsonRpcNotification,
} from '../../protocol/types.ts'
import { invalidParams, requireObject } from '../request/params.ts'
import type { InternalContext } from '../request/base-request-context.ts'
import type { Requester } from '../request/exchange.ts'
import { matchResource, type Resources } from './resources.ts'
import type { Extensions, AcceptedFilter } from './extensions.ts'
import type { Notifier, ServerChange, Unsubscribe } from '../notifier.ts'

/** What `subscriptions/listen` needs from a server. */
export interface SubscribableServer extends Resources {
  readonly notify?: Notifier
  readonly offered: ServerCapabilities
  readonly extensions?: Extensions
}

/** The maximum number of URIs that one listener, or one session, can subscribe to. */
export const MAX_SUBSCRIBED_RESOURCES = 1000
/**
 * The maximum total length of the URIs that a session subscribes to, in UTF-16 units, so that its
 * record fits into a SQLite row.
 */
export const MAX_SUBSCRIBED_URIS_LENGTH = 500_000

/**
 * The maximum number of changes queued for a slow reader. Beyond it, the subscription ends, and the
 * client must subscribe again.
 */
const MAX_UNSENT = 10_000

const RESOURCE_UPDATED = 'notifications/resources/updated'

/** The lists that have change notifications. */
const LISTS = ['tools', 'prompts', 'resources'] as const

/**
 * Answers `subscriptions/listen`: acknowledges the supported part of the filter, then notifies the
 * client of every matching change until the client disconnects. The closing result is sent when the
 * server shuts down or the client reads too slowly.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` if the filter is malformed; `METHOD_NOT_FOUND` when
 * the server has no change notifications.
 * @throws {SdkError} `CAPABILITY_MISSING` if the filter belongs to an extension that the client
 * does not declare.
 */
export async function listen(
  server: SubscribableServer,
  params: JsonObject,
  ctx: InternalContext,
): Promise<Result> {
  const requested = requireFilter(params)
  const extensionFilter = await server.extensions?.acceptFilter(requested, ctx)
  const { exchange, id, caller, signal } = ctx
  const filter = {
    ...acceptFilter(server, requested, extensionFilter, ctx),
    ...extensionFilter?.filter,
  }
  const _meta = { [META_SUBSCRIPTION_ID]: id }
  const listening = new ShutdownSignal()
  const endListening = (): void => listening.end()
  signal.addEventListener('abort', endListening)
  let unsent = 0
  const send = (message: JsonRpcNotification): void => {
    if (listening.ended) return
    const sending = exchange.send(message)
    if (!sending) return
    unsent++
    if (unsent > MAX_UNSENT) endListening()
    const onSettled = (): void => {
      unsent--
    }
    sending.then(onSettled, onSettled)
  }
  const unsubscribe = await (exchange.changes ?? server.notify)?.subscribe(
    (change) => {
      if (matches(filter, change) && mayReceive(server, change, ctx)) {
        send(changeNotification(change, _meta))
      }
    },
    { filter, onEnd: endListening, caller },
  )
  const stopWatchingShutdown = exchange.shutdown?.onEnd(endListening)
  let stopExtensions: Unsubscribe | undefined
  try {
    const acknowledged = exchange.send(
      notification('notifications/subscriptions/acknowledged', { notifications: filter, _meta }),
    )
    // Subscribe immediately, so that no change after the acknowledgement is missed
    stopExtensions = await extensionFilter?.start((method, params) => {
      send(notification(method, { ...params, _meta }))
    })
    await acknowledged
    if (!signal.aborted) await new Promise<void>((resolve) => listening.onEnd(resolve))
    return { _meta }
  } finally {
    unsubscribe?.()
    stopWatchingShutdown?.()
    stopExtensions?.()
  }
}

/** Creates the notification for a change. */
export function changeNotification(
  change: ServerChange,
  _meta?: Meta,
): ReturnType<typeof notification> {
  const { method, ...params }: { method: string } & JsonObject = change
  if (_meta) params._meta = _meta
  return notification(method, Object.keys(params).length > 0 ? params : undefined)
}

/** Whether the URI of a subscription covers an updated URI: both are equal, or the updated URI lies below. */
export function covers(subscribed: string, updated: string): boolean {
  if (subscribed === updated) return true
  return updated.startsWith(subscribed.endsWith('/') ? subscribed : `${subscribed}/`)
}

/** Whether visibility of resources depends on the caller. */
function isRestricted({ resources, resourceTemplates }: Resources): boolean {
  return resources.restricted || resourceTemplates.restricted
}

/** Whether a caller may be notified of a change: of a resource only if the caller could read it. */
export function mayReceive(
  registered: Resources,
  change: ServerChange,
  requester: Requester,
): boolean {
  if (!('uri' in change) || !isRestricted(registered)) return true
  return matchResource(registered, change.uri, requester) !== undefined
}

/**
 * Whether a caller may subscribe to a URI: a resource that the caller could read, or a parent of such a
 * resource. Hidden resources are treated like missing resources, so that callers cannot distinguish them.
 */
function maySubscribe(registered: Resources, uri: string, requester: Requester): boolean {
  if (!isRestricted(registered) || matchResource(registered, uri, requester)) return true
  const { resources, resourceTemplates } = registered
  return (
    resources.list(requester).some(({ item }) => covers(uri, item.uri)) ||
    // A template may have any number of URIs, so only the text before its first variable is compared
    resourceTemplates.list(requester).some(({ item }) => {
      const [literal = ''] = item.uriTemplate.split('{')
      return literal.startsWith(uri) || uri.startsWith(literal)
    })
  )
}

/**
 * Whether a stored message must be withheld from the reader of a session's stream. The caller may
 * have had more permissions when it subscribed, or when the message was stored.
 *
 * @param data The message as JSON.
 */
export function isHidden(registered: Resources, data: string, requester: Requester): boolean {
  if (!isRestricted(registered) || !data.includes(RESOURCE_UPDATED)) return false
  const { method, params } = JSON.parse(data) as JsonRpcNotification
  return method === RESOURCE_UPDATED && !matchResource(registered, String(params?.uri), requester)
}

/** Whether a filter selects a change. */
function matches(filter: SubscriptionFilter, change: ServerChange): boolean {
  if (change.method === RESOURCE_UPDATED) {
    return filter.resourceSubscriptions?.some((uri) => covers(uri, change.uri)) === true
  }
  return LISTS.some(
    (list) =>
      change.method === `notifications/${list}/list_changed` && filter[`${list}ListChanged`],
  )
}

function requireFilter(params: JsonObject): SubscriptionFilter {
  const notifications = requireObject(params, 'notifications')
  for (const list of LISTS) {
    if (!['boolean', 'undefined'].includes(typeof notifications[`${list}ListChanged`])) {
      throw invalidParams(`"${list}ListChanged" must be a boolean`)
    }
  }
  const uris = notifications.resourceSubscriptions
  if (uris === undefined) return notifications
  if (!Array.isArray(uris) || !uris.every((uri) => typeof uri === 'string')) {
    throw invalidParams('"resourceSubscriptions" must be a list of URIs')
  }
  if (uris.length > MAX_SUBSCRIBED_RESOURCES) {
    throw invalidParams(`A listener can subscribe to at most ${MAX_SUBSCRIBED_RESOURCES} resources`)
  }
  return notifications
}

/** The part of a filter that the server supports. */
function acceptFilter(
  server: SubscribableServer,
  filter: SubscriptionFilter,
  extensionFilter: AcceptedFilter | undefined,
  requester: Requester,
): SubscriptionFilter {
  const { offered } = server
  if (!extensionFilter && !LISTS.some((list) => offered[list])) {
    throw new ProtocolError(METHOD_NOT_FOUND, 'The server has nothing to listen to')
  }
  const accepted: SubscriptionFilter = {}
  for (const list of LISTS) {
    const member = `${list}ListChanged` as const
    if (offered[list] && filter[member] === true) accepted[member] = true
  }
  if (offered.resources && filter.resourceSubscriptions) {
    accepted.resourceSubscriptions = filter.resourceSubscriptions.filter((uri) =>
      maySubscribe(server, uri, requester),
    )
  }
  return accepted
}
