/**
 * `_meta` of requests: the members that 2026-07-28 repeats in every request, and the caller's members.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#general-fields
 */
import {
  META_CLIENT_CAPABILITIES,
  META_CLIENT_INFO,
  META_LOG_LEVEL,
  META_PROTOCOL_VERSION,
} from '../protocol/meta.ts'
import type { RevisionFacts } from '../protocol/revisions.ts'
import type { ClientCapabilities, Implementation, JsonObject, Meta } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import type { RequestOptions } from './request-options.ts'

/**
 * The `_meta` that every request repeats. Undefined in legacy revisions, which send its contents once, in
 * the handshake.
 */
export function commonMeta(
  { era, version }: RevisionFacts,
  { roots, ...others }: ClientCapabilities,
  info: Implementation | undefined,
): JsonObject | undefined {
  if (era === 'legacy') return undefined
  return {
    [META_PROTOCOL_VERSION]: version,
    // Only legacy revisions have the notification that `roots.listChanged` declares
    [META_CLIENT_CAPABILITIES]: roots ? { ...others, roots: {} } : others,
    ...(info && { [META_CLIENT_INFO]: info }),
  }
}

/** Adds the caller's `_meta`, from the options of a request, to its params. */
export function withCallerMeta(params: JsonObject, meta: Meta | undefined): JsonObject {
  return meta ? { ...params, _meta: { ...(params._meta as Meta | undefined), ...meta } } : params
}

/** Adds the members of `_meta` that the protocol defines to the params of a request. */
export function withProtocolMeta(
  params: JsonObject | undefined,
  common: JsonObject | undefined,
  { onProgress, logLevel, capabilities }: RequestOptions,
  id: number,
): JsonObject | undefined {
  // For speed, requests without `_meta` of their own share one `_meta` object, which comes first in `params`
  const isPlain = !(params && '_meta' in params) && !onProgress && !logLevel
  if (isPlain && !capabilities) return common ? { _meta: common, ...params } : params
  const callMeta = params?._meta
  // `Object.assign`, because on Node 20, adding members to an object made by spreading takes microseconds
  const _meta: JsonObject = Object.assign({}, isObject(callMeta) && callMeta, common)
  if (onProgress) _meta.progressToken = id
  if (capabilities && common) {
    const declared = common[META_CLIENT_CAPABILITIES] as ClientCapabilities
    const extensions = { ...declared.extensions, ...capabilities.extensions }
    _meta[META_CLIENT_CAPABILITIES] = { ...declared, ...capabilities, extensions }
  }
  if (logLevel && common) _meta[META_LOG_LEVEL] = logLevel
  return Object.keys(_meta).length > 0 ? { ...params, _meta } : params
}
