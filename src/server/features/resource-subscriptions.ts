/**
 * The resources that a session is subscribed to.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions
 */
import type { Result, JsonObject } from '../../protocol/types.ts'
import { invalidParams } from '../request/params.ts'
import type { InternalContext } from '../request/base-request-context.ts'
import { findResource, requireUri, type Resources } from './resources.ts'
import { requireSessionRecord } from '../request/session-record.ts'
import { MAX_SUBSCRIBED_URIS_LENGTH, MAX_SUBSCRIBED_RESOURCES } from './subscriptions.ts'

/**
 * Subscribes a session to updates of a resource.
 *
 * @throws {ProtocolError} "Resource not found", as for reading.
 */
export function subscribeResource(
  registered: Resources,
  params: JsonObject,
  ctx: InternalContext,
): Result {
  const uri = requireUri(params)
  findResource(registered, uri, ctx)
  const { subscriptions } = requireSessionRecord(ctx.method, ctx.exchange)
  if (subscriptions.includes(uri)) return {}
  if (subscriptions.length >= MAX_SUBSCRIBED_RESOURCES) {
    throw invalidParams(`A session can subscribe to at most ${MAX_SUBSCRIBED_RESOURCES} resources`)
  }
  if (subscriptions.join('').length + uri.length > MAX_SUBSCRIBED_URIS_LENGTH) {
    throw invalidParams(
      `A session can subscribe to URIs of at most ${MAX_SUBSCRIBED_URIS_LENGTH} characters in total`,
    )
  }
  subscriptions.push(uri)
  return {}
}

/** Unsubscribes a session from updates of a resource. */
export function unsubscribeResource(
  _registered: Resources,
  params: JsonObject,
  ctx: InternalContext,
): Result {
  const uri = requireUri(params)
  const record = requireSessionRecord(ctx.method, ctx.exchange)
  record.subscriptions = record.subscriptions.filter((other) => other !== uri)
  return {}
}
