/**
 * Nonces for DPoP proofs. A nonce is an encrypted time of expiry, which any instance with the secret can verify.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9449#section-9
 */
import { createSealer, type Secrets } from '../patterns/sealed-state.ts'

/** How nonces are created. */
export interface NonceOptions {
  /**
   * Secrets of at least 16 characters, shared by all instances. The first secret encrypts new nonces; nonces
   * that were encrypted with any of the secrets are accepted.
   */
  secrets: Secrets
  /**
   * The lifetime of a nonce, in milliseconds.
   *
   * @default 120000
   */
  ttlMs?: number
}

/** Creates and verifies nonces. */
export interface Nonces {
  next(): Promise<string>
  verify(nonce: string): Promise<boolean>
}

/**
 * Creates the issuer and verifier of nonces.
 *
 * @throws {SdkError} `INVALID_USE` if a secret is too short.
 */
export function createNonces({ secrets, ttlMs = 120_000 }: NonceOptions): Nonces {
  const sealer = createSealer(secrets)
  return {
    next: () => sealer.seal(['nonce', Date.now() + ttlMs]),
    async verify(nonce) {
      const state = await sealer.open(nonce)
      if (!Array.isArray(state)) return false
      const [kind, until] = state as unknown[]
      return kind === 'nonce' && typeof until === 'number' && until > Date.now()
    },
  }
}
