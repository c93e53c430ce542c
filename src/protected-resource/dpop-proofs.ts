/**
 * DPoP: the sender proves with each request that it possesses the key that the token is bound to.
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
import { createReplayCache, type ReplayCache } from './replay-cache.ts'
import { parseUrl } from '../patterns/url.ts'

/** Which proofs are accepted. */
export interface DpopOptions {
  /**
   * Rejects tokens that are not bound to a key.
   *
   * @default false
   */
  required?: boolean
  /** The accepted algorithms. By default the common asymmetric algorithms are accepted. */
  algorithms?: readonly string[]
  /**
   * How far the time of a proof may differ from now, in milliseconds; at most 300,000.
   *
   * @default 300000
   */
  maxAgeMs?: number
  /** Requires proofs to contain a nonce from this server. By default they need none. */
  nonce?: NonceOptions
  /**
   * Records used proofs to prevent replay. By default, up to 100,000 proofs are recorded in the memory of
   * this instance. Several instances need a shared cache, or a nonce with a short lifetime.
   */
  replays?: ReplayCache
}

/** What the proof of a request must match. */
export interface ProofExpectations {
  readonly token: string
  /** How the token was sent. */
  readonly scheme: 'bearer' | 'dpop'
  /** The thumbprint of the key that the token is bound to, from the token (`cnf.jkt`). */
  readonly thumbprint: unknown
  /** The URL of the endpoint as clients know it. */
  readonly resource: string
}

/** Why a request is rejected. */
export interface DpopError {
  readonly error: 'invalid_dpop_proof' | 'invalid_token' | 'use_dpop_nonce'
  /** The message for the client; contains no quotes, because it becomes a quoted string of a header. */
  readonly message: string
  /** The reason for the operator; contains no secrets. */
  readonly reason?: string
  /** A nonce for the next proof, if nonces are required. */
  readonly nonce?: string | undefined
}

/** Checks proofs. */
export interface DpopVerifier {
  /** Whether tokens that are not bound to a key are rejected. */
  readonly required: boolean
  /** The accepted algorithms. */
  readonly algorithms: readonly string[]
  /** Verifies the proof of a request and the binding of its token. Returns the error, if any. */
  check(request: Request, expected: ProofExpectations): Promise<DpopError | undefined>
}

const ALGORITHMS = ['ES256', 'EdDSA', 'Ed25519', 'ES384', 'ES512', 'PS256', 'RS256']
const MAX_AGE_MS = 300_000

/**
 * Creates the verifier of DPoP proofs, for the option `dpop` of `protectedResource`: tokens that
 * are bound to a key are then accepted with a proof of that key.
 *
 * @example
 * ```ts
 * import { dpopProofs, jwtTokens, protectedResource } from 'edgewise/protected-resource'
 *
 * export const auth = protectedResource({
 *   resource: 'https://notes.example/mcp',
 *   authorizationServers: ['https://auth.example.com'],
 *   verify: jwtTokens(),
 *   dpop: dpopProofs({ required: true }),
 * })
 * ```
 *
 * @throws {SdkError} `INVALID_USE` if a secret of the nonces is too short.
 * @see https://www.rfc-editor.org/rfc/rfc9449#section-4.3
 */
export function dpopProofs(options: DpopOptions = {}): DpopVerifier {
  const { required = false, replays = createReplayCache() } = options
  const maxAgeMs = Math.min(options.maxAgeMs ?? MAX_AGE_MS, MAX_AGE_MS)
  const algorithms = [...(options.algorithms ?? ALGORITHMS)]
  const nonces = options.nonce && createNonces(options.nonce)

  const findProofError = async (
    request: Request,
    expected: ProofExpectations,
  ): Promise<DpopError | undefined> => {
    const proofOrError = await readProof(request.headers.get('dpop'), algorithms)
    if ('error' in proofOrError) return proofOrError
    const mismatch = await requestMismatch(proofOrError, request, expected, maxAgeMs)
    if (mismatch !== undefined) return invalidProof(mismatch)
    const { iat, jti, nonce, jkt } = proofOrError
    if (jkt !== expected.thumbprint) {
      return {
        error: 'invalid_token',
        message: 'The DPoP proof uses another key than the access token',
        reason: 'The proof uses another key than the token',
      }
    }
    const hasValidNonce = !nonces || (typeof nonce === 'string' && (await nonces.verify(nonce)))
    if (!hasValidNonce) {
      return {
        error: 'use_dpop_nonce',
        message: 'The DPoP proof needs the nonce of this response',
        reason: 'The proof has no valid nonce',
      }
    }
    const isUnused = await replays.use(`${jkt} ${await digestText(jti)}`, iat * 1000 + maxAgeMs)
    return isUnused ? undefined : invalidProof('The proof was used before')
  }

  return {
    required,
    algorithms,
    async check(request, expected) {
      const bindingFault = findBindingFault(expected)
      if (bindingFault !== undefined) return { error: 'invalid_token', message: bindingFault }
      const proofError = await findProofError(request, expected)
      return proofError && { ...proofError, nonce: await nonces?.next() }
    },
  }
}

/** The reason for rejecting a token regardless of the proof, if there is one. */
function findBindingFault({ thumbprint, scheme }: ProofExpectations): string | undefined {
  if (thumbprint === undefined) return 'The access token is not bound to a key'
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
  /** The thumbprint of the key that signed the proof. */
  readonly jkt: string
}

function invalidProof(reason: string): DpopError {
  const message = 'The DPoP proof is missing, malformed, already used or not for this request'
  return { error: 'invalid_dpop_proof', message, reason }
}

/** Why a proof does not match the request; `undefined` if it matches. */
async function requestMismatch(
  { htm, htu, ath, iat }: ProofClaims,
  { method, url }: Request,
  { token, resource }: ProofExpectations,
  maxAgeMs: number,
): Promise<string | undefined> {
  if (htm !== method) return `The proof is for ${quote(htm)}, not ${quote(method)}`
  const { origin, pathname } = new URL(resource)
  // A proxy may have rewritten the path of the request, so the path that clients know is accepted too
  const urls = [origin + pathname, origin + new URL(url).pathname]
  if (typeof htu !== 'string' || !urls.includes(withoutQuery(htu))) {
    return `The proof is for ${quote(htu)}, not ${[...new Set(urls)].map(quote).join(' or ')}`
  }
  if (ath !== (await digestText(token))) return 'The proof is for another access token'
  const now = Date.now()
  if (Math.abs(now - iat * 1000) <= maxAgeMs) return undefined
  return `The proof was issued at ${quote(new Date(iat * 1000))}, and it is ${quote(new Date(now))} here`
}

/** The URL of a proof, without query and fragment; empty if the URL is invalid. */
function withoutQuery(text: string): string {
  const url = parseUrl(text)
  return url ? url.origin + url.pathname : ''
}

/** Returns the claims of a proof that is signed by the key that it contains. Otherwise returns an error. */
async function readProof(
  proof: string | null,
  algorithms: string[],
): Promise<ProofClaims | DpopError> {
  if (proof === null) return invalidProof('The proof is missing')
  try {
    const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
      typ: 'dpop+jwt',
      algorithms,
      requiredClaims: ['jti', 'htm', 'htu', 'iat', 'ath'],
    })
    // `requiredClaims` guarantees `iat`
    const { iat = 0, jti, htm, htu, ath, nonce } = payload
    if (typeof jti !== 'string' || jti === '') {
      return invalidProof('The proof has no "jti" string')
    }
    const jkt = await calculateJwkThumbprint(protectedHeader.jwk as JWK)
    return { htm, htu, ath, nonce, iat, jti, jkt }
  } catch (error) {
    return invalidProof(`The proof is invalid: ${quote(String(error))}`)
  }
}
