/**
 * Access tokens that are JWTs, checked with the keys that their issuer publishes.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9068#section-4
 */
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  decodeJwt,
  errors,
  jwtVerify,
  type CryptoKey,
  type JSONWebKeySet,
  type JWTVerifyGetKey,
} from 'jose'
import { tokenOf, type TokenVerifier } from './access-token.ts'
import { boundedFetch } from './bounded-fetch.ts'
import { discoverKeySet, requireSecure } from './issuer-keys.ts'

/** How tokens are checked, and where the keys come from: by default the issuer's metadata tells. */
export interface JwtTokenOptions {
  /** The address of the key set, where there is only one issuer. */
  jwksUri?: string
  /** The keys themselves, where they never change. */
  jwks?: JSONWebKeySet
  /** The algorithms that are accepted; the usual ones with a public key by default. */
  algorithms?: readonly string[]
  /** Milliseconds in which an issuer must answer; 5,000 by default. */
  timeoutMs?: number
  /** Fetches keys and metadata, such as through a service binding; the global one by default. */
  fetch?: typeof globalThis.fetch
}

const ALGORITHMS = 'ES256 ES384 ES512 EdDSA Ed25519 PS256 PS384 PS512 RS256 RS384 RS512'.split(' ')
/** The types of access tokens; not of what else is signed with the same keys, such as proofs. */
const TYPE = /^(?:application\/)?(?:at\+)?jwt$/i

/**
 * Verifies JWTs. Key sets are fetched at the first use and kept; they are fetched again after ten
 * minutes, and when a token names a key that is not among them, though at most every 30 seconds.
 */
export function jwtTokens(options: JwtTokenOptions = {}): TokenVerifier {
  const keySets = createKeySets(options)
  const algorithms = [...(options.algorithms ?? ALGORITHMS)]
  return async (token, { authorizationServers, clockSkewMs }) => {
    const issuer = issuerOf(token)
    if (issuer === undefined || !authorizationServers.includes(issuer)) return undefined
    const keys = await keySets(issuer)
    try {
      const { payload, protectedHeader } = await verifyWith(keys, token, {
        algorithms,
        issuer,
        requiredClaims: ['exp'],
        clockTolerance: clockSkewMs / 1000,
      })
      if (!TYPE.test(protectedHeader.typ ?? 'jwt')) return undefined
      return tokenOf(payload)
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined
      throw error instanceof KeysUnavailable ? error.cause : error
    }
  }
}

/** Not an error of the token: the keys to check it with could not be had. */
class KeysUnavailable extends Error {}

type VerifyOptions = Parameters<typeof jwtVerify>[2]

async function verifyWith(
  keys: JWTVerifyGetKey,
  token: string,
  options: VerifyOptions,
): ReturnType<typeof jwtVerify> {
  try {
    return await jwtVerify(token, keys, options)
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    return verifyWithAny(error, token, options)
  }
}

/** Tries all keys that could have signed a token that names none. */
async function verifyWithAny(
  keys: AsyncIterable<CryptoKey>,
  token: string,
  options: VerifyOptions,
): ReturnType<typeof jwtVerify> {
  for await (const key of keys) {
    try {
      return await jwtVerify(token, key, options)
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error
    }
  }
  throw new errors.JWSSignatureVerificationFailed()
}

/** Whom a token claims to be from; nothing if it is no JWT. Unverified. */
function issuerOf(token: string): string | undefined {
  try {
    return decodeJwt(token).iss
  } catch {
    return undefined
  }
}

/** Finds and keeps the keys of each issuer. */
function createKeySets({
  jwksUri,
  jwks,
  timeoutMs = 5000,
  fetch: given = (...args) => globalThis.fetch(...args),
}: JwtTokenOptions): (issuer: string) => Promise<JWTVerifyGetKey> {
  const fetch = boundedFetch(given, timeoutMs)
  const remote = (url: URL): JWTVerifyGetKey => {
    const find = createRemoteJWKSet(url, { timeoutDuration: timeoutMs, [customFetch]: fetch })
    return async (header, token) => {
      try {
        return await find(header, token)
      } catch (cause) {
        if (isOfToken(cause)) throw cause
        throw new KeysUnavailable('The keys cannot be had', { cause })
      }
    }
  }
  const fixed = jwks ? createLocalJWKSet(jwks) : jwksUri && remote(requireSecure(jwksUri))
  if (fixed) return () => Promise.resolve(fixed)

  const known = new Map<string, JWTVerifyGetKey>()
  const discover = async (issuer: string): Promise<JWTVerifyGetKey> => {
    const keys = remote(await discoverKeySet(issuer, fetch))
    known.set(issuer, keys)
    return keys
  }
  const pending = new Map<string, Promise<JWTVerifyGetKey>>()
  return async (issuer) => {
    const keys = known.get(issuer) ?? pending.get(issuer)
    if (keys) return keys
    const found = discover(issuer).finally(() => pending.delete(issuer))
    // On Workers what one request waits for dies with it, and others must not wait for it.
    if (!('WebSocketPair' in globalThis)) pending.set(issuer, found)
    return found
  }
}

/** Whether a key was not found because of what the token says. */
function isOfToken(error: unknown): boolean {
  return (
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys ||
    error instanceof errors.JOSENotSupported
  )
}
