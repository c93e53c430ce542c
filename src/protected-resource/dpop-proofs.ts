/**
 * DPoP: whoever uses a token proves, with each request, that it holds the key that the token is
 * bound to.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9449#section-4.3
 */
import type { JWK } from 'jose'
import { EmbeddedJWK } from 'jose/jwk/embedded'
import { calculateJwkThumbprint } from 'jose/jwk/thumbprint'
import { jwtVerify } from 'jose/jwt/verify'
import { digestText } from '../patterns/digest.ts'
import { quote } from './access-token.ts'
import { createNonces, type NonceOptions } from './nonces.ts'
import { createReplayCache, type ReplayCache } from './replays.ts'

/** Which proofs are taken. */
export interface DpopOptions {
  /** Refuses tokens that are bound to no key; taken by default. */
  required?: boolean
  /** The algorithms that are accepted; the usual ones with a public key by default. */
  algorithms?: readonly string[]
  /** How far the time of a proof may be from now, in milliseconds; 300,000 by default, and at most. */
  maxAgeMs?: number
  /** Wants proofs to hold a nonce from this server; not by default. */
  nonce?: NonceOptions
  /**
   * Remembers which proofs were used; by default this instance of the server does, up to 100,000.
   * Several instances need something they share, or a nonce that is good for a short time only.
   */
  replays?: ReplayCache
}

/** What the proof of a request must fit. */
export interface VerifiedProof {
  readonly token: string
  /** How the token was sent. */
  readonly scheme: 'bearer' | 'dpop'
  /** The thumbprint of the key that the token is bound to, as the token says (`cnf.jkt`). */
  readonly thumbprint: unknown
  /** The URL of the endpoint as clients know it. */
  readonly resource: string
}

/** Why a request is refused. */
export interface DpopError {
  readonly error: 'invalid_dpop_proof' | 'invalid_token' | 'use_dpop_nonce'
  /** What the client is told; without quotes. */
  readonly message: string
  /** Why, in words for the author of the server; nothing in it is secret. */
  readonly reason?: string
  /** A nonce for the next proof, where they need one. */
  readonly nonce?: string | undefined
}

/** Checks proofs. */
export interface DpopVerifier {
  readonly required: boolean
  readonly algorithms: readonly string[]
  /** What is wrong with the token or the proof of a request, if anything. */
  check(request: Request, proven: VerifiedProof): Promise<DpopError | undefined>
}

const ALGORITHMS = ['ES256', 'EdDSA', 'Ed25519', 'ES384', 'ES512', 'PS256', 'RS256']
const MAX_AGE_MS = 300_000

/** Takes DPoP-bound tokens. */
export function dpopProofs(options: DpopOptions = {}): DpopVerifier {
  const { required = false, replays = createReplayCache() } = options
  const maxAgeMs = Math.min(options.maxAgeMs ?? MAX_AGE_MS, MAX_AGE_MS)
  const algorithms = [...(options.algorithms ?? ALGORITHMS)]
  const nonces = options.nonce && createNonces(options.nonce)

  const faultOf = async (
    request: Request,
    proven: VerifiedProof,
  ): Promise<DpopError | undefined> => {
    const read = await readProof(request.headers.get('dpop'), algorithms)
    if ('error' in read) return read
    const wrong = await misfit(read, request, proven, maxAgeMs)
    if (wrong !== undefined) return invalid(wrong)
    const { iat, jti, nonce, jkt } = read
    if (jkt !== proven.thumbprint) {
      return {
        error: 'invalid_token',
        message: 'The DPoP proof is of another key than that of the access token',
        reason: 'The proof is of another key than the token',
      }
    }
    if (nonces && !(typeof nonce === 'string' && (await nonces.isGood(nonce)))) {
      return {
        error: 'use_dpop_nonce',
        message: 'The DPoP proof needs the nonce of this response',
        reason: 'The proof has no nonce that is good',
      }
    }
    const fresh = await replays.use(`${jkt} ${await digestText(jti)}`, iat * 1000 + maxAgeMs)
    return fresh ? undefined : invalid('The proof was used before')
  }

  return {
    required,
    algorithms,
    async check(request, proven) {
      const unproven = unprovenFault(proven)
      if (unproven !== undefined) return { error: 'invalid_token', message: unproven }
      const fault = await faultOf(request, proven)
      return fault && { ...fault, nonce: await nonces?.next() }
    },
  }
}

/** Why no proof can help. */
function unprovenFault({ thumbprint, scheme }: VerifiedProof): string | undefined {
  if (thumbprint === undefined) return 'The access token is bound to no key'
  if (scheme === 'dpop') return undefined
  return 'The access token is bound to a key, but was sent without the DPoP scheme'
}

interface ProofClaims {
  readonly htm: unknown
  readonly htu: unknown
  readonly ath: unknown
  readonly nonce: unknown
  readonly iat: number
  readonly jti: string
  /** The thumbprint of the key that signed. */
  readonly jkt: string
}

function invalid(reason: string): DpopError {
  const message = 'The DPoP proof is missing, malformed, used or not for this request'
  return { error: 'invalid_dpop_proof', message, reason }
}

/** What of a proof does not fit the request. */
async function misfit(
  { htm, htu, ath, iat }: ProofClaims,
  { method, url }: Request,
  { token, resource }: VerifiedProof,
  maxAgeMs: number,
): Promise<string | undefined> {
  if (htm !== method) return `The proof is for ${quote(htm)}, not ${quote(method)}`
  const { origin, pathname } = new URL(resource)
  // What a proxy made of the path is known to the client only if it made nothing of it
  const urls = [origin + pathname, origin + new URL(url).pathname]
  if (typeof htu !== 'string' || !urls.includes(withoutQuery(htu))) {
    return `The proof is for ${quote(htu)}, not ${[...new Set(urls)].map(quote).join(' or ')}`
  }
  if (ath !== (await digestText(token))) return 'The proof is for another access token'
  const now = Date.now()
  if (Math.abs(now - iat * 1000) <= maxAgeMs) return undefined
  return `The proof is of ${quote(new Date(iat * 1000))}, and it is ${quote(new Date(now))} here`
}

/** A URL as proofs name it, without query and fragment; nothing of what is none. */
function withoutQuery(text: string): string {
  if (!URL.canParse(text)) return ''
  const { origin, pathname } = new URL(text)
  return origin + pathname
}

/** What a proof says, if it is signed by the public key in it. */
async function readProof(
  proof: string | null,
  algorithms: string[],
): Promise<ProofClaims | DpopError> {
  if (proof === null) return invalid('There is no proof')
  try {
    const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
      typ: 'dpop+jwt',
      algorithms,
      requiredClaims: ['jti', 'htm', 'htu', 'iat', 'ath'],
    })
    const { iat, jti, htm, htu, ath, nonce } = payload
    if (iat === undefined || typeof jti !== 'string' || jti === '') {
      return invalid('The proof has no "jti" that is a text')
    }
    const jkt = await calculateJwkThumbprint(protectedHeader.jwk as JWK)
    return { htm, htu, ath, nonce, iat, jti, jkt }
  } catch (error) {
    return invalid(`The proof is none: ${quote(String(error))}`)
  }
}
