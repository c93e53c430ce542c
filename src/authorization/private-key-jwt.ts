/**
 * Client authentication with a key instead of a secret: `private_key_jwt`.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7523#section-2.2
 */
import type { CryptoKey as Key, JWK } from 'jose'
import { importJWK, importPKCS8 } from 'jose/key/import'
import { modifyAssertion, PrivateKeyJwt, type ClientAuth } from 'oauth4webapi'
import { AuthorizationError } from './errors.ts'

/** The key, and how it signs assertions. */
export interface PrivateKeyJwtOptions {
  /** The private key: a key object, PEM (PKCS #8), or a JWK. */
  readonly key: Key | string | JWK
  /**
   * The algorithm of the signature, if the key does not state it. PEM keys do not.
   *
   * @default 'ES256'
   */
  readonly alg?: string
  /** The id of the key among the client's keys. */
  readonly kid?: string
  /**
   * The audience of the assertions.
   *
   * @default 'issuer'
   */
  readonly audience?: 'issuer' | 'token_endpoint'
}

/**
 * Authenticates a client with a signed assertion.
 *
 * @example
 * ```ts
 * import { clientCredentials, privateKeyJwt } from 'edgewise/authorization'
 *
 * export const createAuth = (pem: string) =>
 *   clientCredentials({
 *     issuer: 'https://auth.example.com',
 *     clientId: 'nightly',
 *     authentication: privateKeyJwt({ key: pem }),
 *   })
 * ```
 *
 * @see https://www.rfc-editor.org/rfc/rfc7523#section-2.2
 */
export function privateKeyJwt(options: PrivateKeyJwtOptions): ClientAuth {
  const { kid, audience } = options
  let loadedKey: Promise<Key> | undefined
  return async (server, client, body, headers) => {
    const {
      issuer,
      token_endpoint_auth_methods_supported: methods,
      token_endpoint_auth_signing_alg_values_supported: algs,
    } = server
    const requireSupport = (supported: readonly string[] | undefined, wanted: string): void => {
      if (!supported || supported.includes(wanted)) return
      const message = `"${issuer}" does not support "${wanted}", only "${supported.join('", "')}"`
      throw new AuthorizationError('registration', message)
    }
    requireSupport(methods, 'private_key_jwt')
    loadedKey ??= loadKey(options)
    const key = await loadedKey
    const authenticate = PrivateKeyJwt(kid === undefined ? key : { key, kid }, {
      [modifyAssertion](header, payload) {
        if (typeof header.alg === 'string') requireSupport(algs, header.alg)
        if (audience === 'token_endpoint') payload.aud = server.token_endpoint
      },
    })
    await authenticate(server, client, body, headers)
  }
}

async function loadKey({ key, alg = 'ES256' }: PrivateKeyJwtOptions): Promise<Key> {
  if (key instanceof CryptoKey) return key
  if (typeof key === 'string') return importPKCS8(key, alg)
  const importedKey = await importJWK(key, key.alg ?? alg)
  if (importedKey instanceof CryptoKey) return importedKey
  throw new TypeError('"key" is a shared secret: pass a private key')
}
