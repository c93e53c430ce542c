/**
 * The signing keys of issuers: discovered, fetched and cached.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7517#section-5
 */
import type { CryptoKey, JSONWebKeySet, JWSHeaderParameters } from 'jose'
import { createLocalJWKSet } from 'jose/jwks/local'
import { createRemoteJWKSet, customFetch } from 'jose/jwks/remote'
import { boundedFetch } from './bounded-fetch.ts'
import { discoverKeySetUrl, requireSecure } from './issuer-keys.ts'

/** Where the keys come from: by default from the issuer's metadata. */
export interface KeySetOptions {
  /** The URL of the key set, if there is only one issuer. */
  jwksUri?: string
  /** The keys themselves, if they never change. */
  jwks?: JSONWebKeySet
  /**
   * Timeout for an issuer, in milliseconds.
   *
   * @default 5000
   */
  timeoutMs?: number
  /**
   * A custom `fetch` for keys and metadata, such as the `fetch` of a service binding.
   *
   * @default fetch
   */
  fetch?: typeof globalThis.fetch
}

/** Finds the key that a token claims to be signed with. */
export type FindKey = (header?: JWSHeaderParameters) => Promise<CryptoKey>

/** Finds and caches the keys of each issuer. */
export function createKeySets({
  jwksUri,
  jwks,
  timeoutMs = 5000,
  fetch: fetchOption = (...args) => globalThis.fetch(...args),
}: KeySetOptions): (issuer: string) => Promise<FindKey> {
  const fetch = boundedFetch(fetchOption, timeoutMs)
  const remoteKeys = (url: URL): FindKey =>
    createRemoteJWKSet(url, { timeoutDuration: timeoutMs, [customFetch]: fetch })
  const fixedKeys = jwks ? createLocalJWKSet(jwks) : jwksUri && remoteKeys(requireSecure(jwksUri))
  if (fixedKeys) return () => Promise.resolve(fixedKeys)

  const keysByIssuer = new Map<string, FindKey>()
  const discoverKeys = async (issuer: string): Promise<FindKey> => {
    const keys = remoteKeys(await discoverKeySetUrl(issuer, fetch))
    keysByIssuer.set(issuer, keys)
    return keys
  }
  const pendingByIssuer = new Map<string, Promise<FindKey>>()
  return async (issuer) => {
    const keys = keysByIssuer.get(issuer) ?? pendingByIssuer.get(issuer)
    if (keys) return keys
    const discovery = discoverKeys(issuer).finally(() => pendingByIssuer.delete(issuer))
    // On Workers, I/O is tied to the request that started it, so other requests must not wait for
    // it.
    if (!('WebSocketPair' in globalThis)) pendingByIssuer.set(issuer, discovery)
    return discovery
  }
}
