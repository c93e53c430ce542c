/**
 * Access tokens that are JWTs, checked with the keys that their issuer publishes.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9068#section-4
 */
import { base64url, jwtVerify, type CryptoKey, type JWTVerifyGetKey } from 'jose'
import {
  JOSEError,
  JWKSMultipleMatchingKeys,
  JWSSignatureVerificationFailed,
  JWTClaimValidationFailed,
  JWTExpired,
} from 'jose/errors'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { isObject } from '../protocol/validate.ts'
import {
  faultOf,
  foreignIssuer,
  quote,
  tokenOf,
  type Expected,
  type TokenVerifier,
} from './access-token.ts'
import { createKeySets, KeysUnavailable, type KeySetOptions } from './key-sets.ts'
import { rememberTokens, type RememberOptions } from './remembered-tokens.ts'

/** How tokens are checked, and where the keys come from: by default the issuer's metadata tells. */
export interface JwtTokenOptions extends KeySetOptions, RememberOptions {
  /** The algorithms that are accepted; the usual ones with a public key by default. */
  algorithms?: readonly string[]
}

const ALGORITHMS = 'ES256 ES384 ES512 EdDSA Ed25519 PS256 PS384 PS512 RS256 RS384 RS512'.split(' ')
/** The types of access tokens; not of what else is signed with the same keys, such as proofs. */
const TYPE = /^(?:application\/)?(?:at\+)?jwt$/i

/**
 * Verifies JWTs. Key sets are fetched at the first use and kept; they are fetched again after ten
 * minutes, and when a token names a key that is not among them, though at most every 30 seconds. A
 * token whose signature was good is remembered for a minute: a key that its issuer withdraws is
 * honoured for at most eleven, and for those ten where `rememberMs` is 0.
 */
export function jwtTokens(options: JwtTokenOptions = {}): TokenVerifier {
  const keySets = createKeySets(options)
  const algorithms = [...(options.algorithms ?? ALGORITHMS)]
  const verify: TokenVerifier = async (token, expected) => {
    const { iss: issuer } = read(token, 'claims')
    if (typeof issuer !== 'string') return { refused: 'It is no JWT that names its issuer' }
    if (!expected.authorizationServers.includes(issuer)) {
      return { refused: foreignIssuer(issuer, expected) }
    }
    const keys = await keySets(issuer)
    try {
      const { payload, protectedHeader } = await verifyWith(keys, token, {
        algorithms,
        issuer,
        requiredClaims: ['exp'],
        clockTolerance: expected.clockSkewMs / 1000,
      })
      const { typ = 'jwt' } = protectedHeader
      if (TYPE.test(typ)) return tokenOf(payload)
      return { refused: `Its type is ${quote(typ)}, not that of an access token` }
    } catch (error) {
      if (error instanceof JOSEError) return { refused: refusalOf(error, token, expected) }
      throw error instanceof KeysUnavailable ? error.cause : error
    }
  }
  return rememberTokens(verify, options)
}

type VerifyOptions = Parameters<typeof jwtVerify>[2]

async function verifyWith(
  keys: JWTVerifyGetKey,
  token: string,
  options: VerifyOptions,
): ReturnType<typeof jwtVerify> {
  try {
    return await jwtVerify(token, keys, options)
  } catch (error) {
    if (!(error instanceof JWKSMultipleMatchingKeys)) throw error
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
      if (!(error instanceof JWSSignatureVerificationFailed)) throw error
    }
  }
  throw new JWSSignatureVerificationFailed()
}

/** Why a token is refused, in words for the author of the server. */
function refusalOf(error: JOSEError, token: string, expected: Expected): string {
  if (error instanceof JWTExpired || error instanceof JWTClaimValidationFailed) {
    return faultOf(tokenOf(error.payload), expected, Date.now()) ?? error.message
  }
  const { alg, kid } = read(token, 'header')
  return `${error.message}, with the algorithm ${quote(alg)} and the key ${quote(kid)}`
}

/** What a JWT says, if it is one; unverified. */
function read(token: string, part: 'header' | 'claims'): JsonObject {
  const text = token.split('.', 2)[part === 'header' ? 0 : 1] ?? ''
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(base64url.decode(text)))
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}
