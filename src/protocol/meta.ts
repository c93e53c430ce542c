/**
 * `_meta`: the keys that the protocol owns, and the grammar of all others.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
 */
import type { Revision } from './revisions.ts'

// Whole texts, as bundlers keep what is put together even where nothing uses it
/** The revision that one request speaks. */
export const META_PROTOCOL_VERSION: string = 'io.modelcontextprotocol/protocolVersion'
/** What the client of one request can do. */
export const META_CLIENT_CAPABILITIES: string = 'io.modelcontextprotocol/clientCapabilities'
/** Who the client of one request is. */
export const META_CLIENT_INFO: string = 'io.modelcontextprotocol/clientInfo'
/** Who the server of one result is. */
export const META_SERVER_INFO: string = 'io.modelcontextprotocol/serverInfo'
/** The least severe log message that one request wants. */
export const META_LOG_LEVEL: string = 'io.modelcontextprotocol/logLevel'
/** The `subscriptions/listen` request that a notification belongs to. */
export const META_SUBSCRIPTION_ID: string = 'io.modelcontextprotocol/subscriptionId'

const LABEL = /^[a-z](?:[a-z0-9-]*[a-z0-9])?$/i
const NAME = /^(?:[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?)?$/i

/** Whether a key obeys the grammar: an optional prefix of dot-separated labels, a slash, a name. */
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

// In one expression, as clients need no more of all this
const EXTENSION_ID =
  /^[a-z](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z](?:[a-z0-9-]*[a-z0-9])?)*\/[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?$/i

/** Whether a text can be the id of an extension: a key with a prefix, and a name after it. */
export function isExtensionId(id: string): boolean {
  return EXTENSION_ID.test(id)
}

const OWN_LABELS = ['modelcontextprotocol', 'mcp']

/**
 * Whether a key's prefix belongs to the protocol, so that applications may not define it: since
 * 2025-11-25 by its second label, in 2025-06-18 by any label but the last.
 *
 * @param revision The newest by default; those before 2025-06-18 reserve nothing.
 */
export function isReservedMetaKey(key: string, revision: Revision = '2026-07-28'): boolean {
  const slash = key.indexOf('/')
  if (slash < 0 || revision < '2025-06-18') return false
  const labels = key.slice(0, slash).split('.')
  const deciding = revision === '2025-06-18' ? labels.slice(0, -1) : labels.slice(1, 2)
  return deciding.some((label) => OWN_LABELS.includes(label))
}
