/**
 * Nonces for DPoP proofs, which any instance with the secret can check: a time and its signature.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9449#section-9
 */
import { createSealer, type Secrets } from '../patterns/sealed-state.ts'

/** How nonces are made. */
export interface NonceOptions {
  /** Secrets of 16 characters or more that every instance has; the first signs, all are accepted. */
  secrets: Secrets
  /** Milliseconds for which a nonce is good; 120,000 by default. */
  ttlMs?: number
}

/** Makes and checks nonces. */
export interface Nonces {
  next(): Promise<string>
  isGood(nonce: string): Promise<boolean>
}

/**
 * Makes nonces.
 *
 * @throws {McpError} `INVALID_USE` when a secret is too short.
 */
export function createNonces({ secrets, ttlMs = 120_000 }: NonceOptions): Nonces {
  const sealer = createSealer(secrets)
  return {
    next: () => sealer.seal(['nonce', Date.now() + ttlMs]),
    async isGood(nonce) {
      const opened = await sealer.open(nonce)
      if (!Array.isArray(opened)) return false
      const [kind, until] = opened as unknown[]
      return kind === 'nonce' && typeof until === 'number' && until > Date.now()
    },
  }
}
