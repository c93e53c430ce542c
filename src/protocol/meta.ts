/**
 * `_meta`: the keys of the protocol, and the grammar of all other keys.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
 */
import type { Revision } from './revisions.ts'

// All keys repeat their common prefix, because bundlers would keep concatenated strings even if they are unused

/** The protocol revision of a request. */
export const META_PROTOCOL_VERSION: string = 'io.modelcontextprotocol/protocolVersion'
/** The client capabilities that a request declares. */
export const META_CLIENT_CAPABILITIES: string = 'io.modelcontextprotocol/clientCapabilities'
/** The client's name and version, in a request. */
export const META_CLIENT_INFO: string = 'io.modelcontextprotocol/clientInfo'
/** The server's name and version, in a result. */
export const META_SERVER_INFO: string = 'io.modelcontextprotocol/serverInfo'
/** The minimum level of log messages that a request asks for. */
export const META_LOG_LEVEL: string = 'io.modelcontextprotocol/logLevel'
/** The `subscriptions/listen` request that a notification belongs to. */
export const META_SUBSCRIPTION_ID: string = 'io.modelcontextprotocol/subscriptionId'

/** A label of the prefix of a `_meta` key, such as `com` in `com.example/name`. */
const LABEL = /^[a-z](?:[a-z0-9-]*[a-z0-9])?$/i
/** The name, which is the part of a `_meta` key after the prefix. A name may be empty. */
const NAME = /^(?:[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?)?$/i

/** Whether a key matches the grammar: an optional prefix of dot-separated labels, a slash, a name. */
export function isMetaKey(key: string): boolean {
  const slash = key.indexOf('/')
  if (slash < 0) return key !== '' && NAME.test(key)
  return (
    key
      .slice(0, slash)
      .split('.')
      .every((label) => LABEL.test(label)) && NAME.test(key.slice(slash + 1))
  )
}

// A single regular expression, so that clients, which check only extension ids, need no other code
const EXTENSION_ID =
  /^[a-z](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z](?:[a-z0-9-]*[a-z0-9])?)*\/[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?$/i

/** Whether a text is a valid extension id: a key with a prefix followed by a name. */
export function isExtensionId(id: string): boolean {
  return EXTENSION_ID.test(id)
}

/** Whether the second label of a key's prefix is reserved, so that applications may not define the key. */
export function isProtocolKey(key: string): boolean {
  return /^[^./]+\.(?:modelcontextprotocol|mcp)(?:\.[^/]*)?\//.test(key)
}

/**
 * The keys that 2025-06-18 reserves: any label of the prefix except the last is
 * `modelcontextprotocol` or `mcp`.
 */
const RESERVED_IN_20250618 = /^(?:[^/]*\.)?(?:modelcontextprotocol|mcp)\.[^/]*\//

/**
 * Whether a key's prefix is reserved for the protocol, so that applications may not define the key. Since
 * 2025-11-25, only the second label of the prefix decides; in 2025-06-18, all labels except the last.
 *
 * @param revision The revision of the message; by default the newest. Revisions before 2025-06-18 reserve nothing.
 */
export function isReservedMetaKey(key: string, revision: Revision = '2026-07-28'): boolean {
  if (revision < '2025-06-18') return false
  return revision === '2025-06-18' ? RESERVED_IN_20250618.test(key) : isProtocolKey(key)
}
