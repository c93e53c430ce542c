/**
 * Where tokens and registrations are kept, and how those who share them take turns.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#token-handling
 */
import { keyedMutex } from '../patterns/keyed-mutex.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Awaitable } from '../patterns/awaitable.ts'

/**
 * Keeps what signing in led to, for one user. Values are plain JSON and secret. Implementations for
 * browsers and for files come with the runtimes.
 */
export interface TokenStore {
  /** The value of a key. */
  get(key: string): Awaitable<JsonObject | undefined>
  /** Keeps a value, in place of another. */
  set(key: string, value: JsonObject): Awaitable<void>
  /** Forgets a value. */
  delete(key: string): Awaitable<void>
  /**
   * Runs work while nobody else who shares the store runs any under this key: a mutex, for which
   * `keyedMutex` does within a process.
   */
  withLock<T>(key: string, work: () => Promise<T>): Promise<T>
}

/** Keeps everything in memory, for as long as the process lives. */
export function memoryTokenStore(): TokenStore {
  const values = new Map<string, JsonObject>()
  return {
    get: (key) => values.get(key),
    set: (key, value) => void values.set(key, value),
    delete: (key) => void values.delete(key),
    withLock: keyedMutex(),
  }
}

/** A token, and what has to be known to use it and to get the next. */
export type TokenRecord = {
  /** The authorization server that gave it, and that its refresh token may be sent to. */
  readonly issuer: string
  /** The server that it is for. */
  readonly resource: string
  readonly accessToken: string
  readonly tokenType: 'bearer' | 'dpop'
  /** When to get another one, in milliseconds since 1970; unknown when the server did not say. */
  readonly renewAt?: number | undefined
  readonly refreshToken?: string | undefined
  /** The registration that it was given to, where that was made here: another may follow it. */
  readonly client?: JsonObject | undefined
  /** The scopes that were asked for. */
  readonly asked: readonly string[]
  /** The scopes that were granted. */
  readonly granted: readonly string[]
}

/** The key of a token, by the URL of the server that it is for. */
export function tokenKey(server: string): string {
  return `token ${server}`
}

/** Whether an access token may stand in a header. */
export function isSendable(accessToken: unknown): boolean {
  return /^[\x21-\x7e]+$/.test(String(accessToken))
}

/** Reads a token; what is not understood counts as none. */
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
  const read = texts.every((one) => typeof one === 'string')
  return read && isSendable(accessToken) && [asked, granted].every(Array.isArray)
}
