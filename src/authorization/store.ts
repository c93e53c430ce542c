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
  /** Gets the value of a key. */
  get(key: string): Awaitable<JsonObject | undefined>
  /** Stores a value, replacing any other. */
  set(key: string, value: JsonObject): Awaitable<void>
  /** Deletes a value. */
  delete(key: string): Awaitable<void>
  /**
   * Runs work under a mutex for a key, shared by all users of the store. Within a process
   * `keyedMutex` suffices.
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

/** A token, with what is needed to use and to refresh it. */
export type TokenRecord = {
  /** The issuer of the token. No other server may receive the refresh token. */
  readonly issuer: string
  /** The server that the token is for. */
  readonly resource: string
  readonly accessToken: string
  readonly tokenType: 'bearer' | 'dpop'
  /**
   * When to refresh the token, in milliseconds since 1970. Absent if the server did not state its
   * lifetime.
   */
  readonly renewAt?: number | undefined
  readonly refreshToken?: string | undefined
  /**
   * The registration that the token was issued to, if it was stored here. Another registration may have
   * replaced it since.
   */
  readonly client?: JsonObject | undefined
  /** The requested scopes. */
  readonly asked: readonly string[]
  /** The scopes that were granted. */
  readonly granted: readonly string[]
}

/** The key of a token, by the URL of its server. */
export function tokenKey(server: string): string {
  return `token ${server}`
}

/** Whether an access token is valid in a header. */
export function isValidInHeader(accessToken: unknown): boolean {
  return /^[\x21-\x7e]+$/.test(String(accessToken))
}

/** Reads a token; a malformed one counts as missing. */
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
