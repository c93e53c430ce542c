/**
 * Sender-constrained tokens: a proof of possession for each request (DPoP).
 *
 * @see https://www.rfc-editor.org/rfc/rfc9449
 */
import { singleValue } from '../protocol/headers.ts'
import type { CryptoKey, JWK } from 'jose'
import { SignJWT } from 'jose/jwt/sign'
import { exportJWK } from 'jose/key/export'
import { generateKeyPair } from 'jose/key/generate/keypair'
import type { Awaitable } from '../patterns/awaitable.ts'
import { digestText } from '../patterns/digest.ts'
import type { Proofs } from './requests.ts'

/** The key that tokens are bound to. */
export interface DpopOptions {
  /**
   * Returns the key pair. Called once. A stored token can be used only with the key that it is bound to, so
   * return the same pair in each process. The private key need not be extractable. By default a new pair is
   * generated, and never stored.
   */
  readonly keyPair?: () => Awaitable<{ publicKey: CryptoKey; privateKey: CryptoKey }>
  /**
   * The algorithm of the key, which must be asymmetric.
   *
   * @default 'ES256'
   */
  readonly alg?: string
  /**
   * Whether clients declare the extension `io.modelcontextprotocol/auth/dpop`. The protocol does not define
   * this id yet.
   *
   * @default false
   */
  readonly declare?: boolean
}

/**
 * Binds tokens to a key: pass the result as `proofs` to a function that signs in.
 *
 * @throws {TypeError} If the algorithm is not asymmetric.
 * @see https://www.rfc-editor.org/rfc/rfc9449
 */
export function dpop({ keyPair, alg = 'ES256', declare }: DpopOptions = {}): Proofs {
  if (!/^(?:ES|RS|PS|EdDSA$|Ed25519$)/.test(alg)) {
    throw new TypeError(`"${alg}" is not an asymmetric algorithm`)
  }
  const nonces = new Map<string, string>()
  let keys: Promise<{ jwk: JWK; privateKey: CryptoKey }> | undefined
  const loadKeys = async (): Promise<{ jwk: JWK; privateKey: CryptoKey }> => {
    const { publicKey, privateKey } = await (keyPair ?? (() => generateKeyPair(alg)))()
    const { kty, crv, x, y, n, e } = await exportJWK(publicKey)
    // `JSON.stringify` omits the members that a key does not have
    return { privateKey, jwk: { kty, crv, x, y, n, e } as JWK }
  }
  return {
    alg,
    extension: declare ? 'io.modelcontextprotocol/auth/dpop' : undefined,
    async headers(method, url, accessToken) {
      keys ??= loadKeys()
      const { jwk, privateKey } = await keys
      const { origin, pathname } = new URL(url)
      const claims = { htm: method, htu: origin + pathname, nonce: nonces.get(origin) }
      const ath = accessToken === undefined ? undefined : await digestText(accessToken)
      const proof = await new SignJWT({ ...claims, ath })
        .setProtectedHeader({ typ: 'dpop+jwt', alg, jwk })
        .setJti(crypto.randomUUID())
        .setIssuedAt()
        .sign(privateKey)
      return { dpop: proof }
    },
    acceptNonce({ headers, status }, url) {
      const nonce = singleValue(headers, 'dpop-nonce')
      const { origin } = new URL(url)
      if (!nonce || nonces.get(origin) === nonce) return false
      nonces.set(origin, nonce)
      return status === 400 || status === 401
    },
  }
}
