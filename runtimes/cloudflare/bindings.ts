/**
 * What a Worker finds in its environment, and what it says when something is not there.
 *
 * @see https://developers.cloudflare.com/durable-objects/get-started/
 */

import type { ServerChange } from '#internal/http'

/** The methods of a session object beside `fetch`, as the Worker calls them. */
export interface SessionObject extends Rpc.DurableObjectBranded {
  /** The secret of this deployment, minted by the first call. */
  sealingSecret(): Promise<string>
  /** Whether there is a session of that id. */
  keeps(session: string): Promise<boolean>
}

/** The methods of a hub object beside `fetch`. */
export interface HubObject extends Rpc.DurableObjectBranded {
  publish(change: ServerChange): Promise<void>
  watch(session: string, watched: readonly string[]): Promise<void>
  listens(session: string): Promise<boolean>
  leave(session: string): Promise<void>
}

/**
 * The namespace of a class of objects.
 *
 * @throws {Error} when the environment does not have it; the message says what to add.
 */
export function requireNamespace<T extends Rpc.DurableObjectBranded = SessionObject>(
  env: unknown,
  binding: string,
  className: 'McpSession' | 'McpHub' | 'McpTask',
): DurableObjectNamespace<T> {
  const found = (env as Record<string, unknown>)[binding]
  if (isNamespace<T>(found)) return found
  if (className === 'McpTask') throw missingTasks(binding)
  throw new Error(
    `The Worker has no Durable Object binding "${binding}". Export McpSession and McpHub from the Worker, and see to it that wrangler.toml, or wrangler.jsonc in its own way, has:

[[durable_objects.bindings]]
name = "${className === 'McpSession' ? binding : 'MCP_SESSION'}"
class_name = "McpSession"

[[durable_objects.bindings]]
name = "${className === 'McpHub' ? binding : 'MCP_HUB'}"
class_name = "McpHub"

[[migrations]]
tag = "mcp-1"
new_sqlite_classes = ["McpSession", "McpHub"]`,
  )
}

function missingTasks(binding: string): Error {
  return new Error(
    `The Worker has no Durable Object binding "${binding}", which tasks need. Export McpTask from the Worker, and see to it that wrangler.toml, or wrangler.jsonc in its own way, has:

[[durable_objects.bindings]]
name = "${binding}"
class_name = "McpTask"

[[migrations]]
tag = "mcp-2"
new_sqlite_classes = ["McpTask"]`,
  )
}

/**
 * The storage of an object with SQLite.
 *
 * @throws {Error} when the class was made without; the message says what to change.
 */
export function requireSql(storage: DurableObjectStorage, className: string): DurableObjectStorage {
  try {
    storage.sql.exec('SELECT 1')
    return storage
  } catch (cause) {
    throw new Error(
      `${className} needs SQLite storage: in wrangler.toml or wrangler.jsonc, name it in "new_sqlite_classes" of [[migrations]], not in "new_classes"`,
      { cause },
    )
  }
}

/** What this package needs of workerd that came latest, and the date from which on it is there. */
const LATEST_FLAG = 'handle_cross_request_promise_resolution'
const FIRST_DATE = '2024-10-14'

/**
 * Checks that the Worker runs with the features that this package needs.
 *
 * @throws {Error} when the compatibility date is too early.
 */
export function requireCompatibility(): void {
  if (Cloudflare.compatibilityFlags[LATEST_FLAG] !== false) return
  throw new Error(
    `The compatibility date of the Worker is too early: set compatibility_date = "${FIRST_DATE}" or a later date in wrangler.toml or wrangler.jsonc`,
  )
}

function isNamespace<T extends Rpc.DurableObjectBranded>(
  value: unknown,
): value is DurableObjectNamespace<T> {
  return typeof value === 'object' && value !== null && 'idFromString' in value
}
