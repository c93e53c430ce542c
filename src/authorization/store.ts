/**
 * Storage of tokens and registrations, and locking among the processes that share it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#token-handling
 */
import { keyedMutex } from '../patterns/keyed-mutex.ts'
import type { JsonObject } from '../protocol/types.ts'
import type { Awaitable } from '../patterns/awaitable.ts'

/**
 * Stores the tokens and registrations of one user. Values are plain JSON and secret. The runtimes
 * provide implementations for browsers and for files.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#token-handling
 */
export interface TokenStore {
  /** Returns the value of a key, if there is one. */
  get(key: string): Awaitable<JsonObject | undefined>
  /** Stores a value, and replaces the previous value of the key. */
  set(key: string, value: JsonObject): Awaitable<void>
  /** Deletes a value. */
  delete(key: string): Awaitable<void>
  /**
   * Runs `work` while no other work for the same key runs, in any process that uses the store. If only one process
   * uses the store, `keyedMutex` suffices.
   */
  withLock<T>(key: string, work: () => Promise<T>): Promise<T>
}

/** Creates a token store in memory, for the lifetime of the process. */
export function memoryTokenStore(): TokenStore {
  const values = new Map<string, JsonObject>()
  return {
    get: (key) => values.get(key),
    set: (key, value) => void values.set(key, value),
    delete: (key) => void values.delete(key),
    withLock: keyedMutex(),
  }
}

/** An access token, with everything that is needed to use and refresh it. */
export type TokenRecord = {
  /** The issuer of the token. No other server may receive the refresh token. */
  readonly issuer: string
  /** The identifier of the MCP server that the token is for, as in the parameter `resource`. */
  readonly resource: string
  readonly accessToken: string
  readonly tokenType: 'bearer' | 'dpop'
  /**
   * When to refresh the token, in milliseconds since 1970. Absent if the server did not state the lifetime of the
   * token.
   */
  readonly renewAt?: number | undefined
  readonly refreshToken?: string | undefined
  /**
   * The registration that the token was issued to, if the registration was stored. Another registration may have
   * replaced it since then.
   */
  readonly client?: JsonObject | undefined
  /** The requested scopes. */
  readonly asked: readonly string[]
  /** The scopes that were granted. */
  readonly granted: readonly string[]
}

/** The key of the token for an MCP server, by the URL that the client connects to. */
export function tokenKey(server: string): string {
  return `token ${server}`
}

/** Whether an access token contains only characters that a header can contain. */
export function isValidInHeader(accessToken: unknown): boolean {
  return /^[\x21-\x7e]+$/.test(String(accessToken))
}

/** Reads the token for an MCP server. A malformed token counts as missing. */
export async function readToken(
  store: TokenStore,
  server: string,
): Promise<TokenRecord | undefined> {
  const value = await store.get(tokenKey(server))
  return isTokenRecord(value) ? value : undefined
}

function isTokenRecord(value: JsonObject | undefined): value is TokenRecord {
  if (!value) return false
  const { issuer, resource, accessToken, tokenType, asked, granted } = value
  const texts = [issuer, resource, accessToken, tokenType]
  const isComplete = texts.every((text) => typeof text === 'string')
  return isComplete && isValidInHeader(accessToken) && [asked, granted].every(Array.isArray)
}
