/**
 * Access tokens that are JWTs, checked with the keys that their issuer publishes.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9068#section-4
 */
import { decode } from 'jose/base64url'
import { JOSEError, JWKSMultipleMatchingKeys, JWSSignatureVerificationFailed } from 'jose/errors'
import { compactVerify } from 'jose/jws/compact/verify'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { isObject } from '../protocol/validate.ts'
import {
  foreignIssuer,
  quote,
  tokenOf,
  type RefusedToken,
  type TokenVerifier,
} from './access-token.ts'
import { createKeySets, type FindKey, type KeySetOptions } from './key-sets.ts'
import { cacheTokens, type CacheTokensOptions } from './remembered-tokens.ts'

/** How tokens are checked, and where the keys come from: by default the issuer's metadata tells. */
export interface JwtTokenOptions extends KeySetOptions, CacheTokensOptions {
  /** The algorithms that are accepted; the usual ones with a public key by default. */
  algorithms?: readonly string[]
}

const ALGORITHMS = 'ES256 ES384 ES512 EdDSA Ed25519 PS256 PS384 PS512 RS256 RS384 RS512'.split(' ')
/** The types of access tokens; not of what else is signed with the same keys, such as proofs. */
const TYPE = /^(?:application\/)?(?:at\+)?jwt$/i
/** What is wrong with the keys of an issuer, in the codes of `jose`; the rest is with the token. */
const KEY_FAULT = /^ERR_(?:JOSE_GENERIC|JWKS_INVALID|JWKS_TIMEOUT)$/

/**
 * Verifies JWTs. Key sets are fetched at the first use and kept; they are fetched again after ten
 * minutes, and when a token names a key that is not among them, though at most every 30 seconds, or
 * 5 seconds after an issuer failed: until then requests whose token needs it are answered with 503. A
 * token whose signature was good is remembered for a minute: a key that its issuer withdraws is
 * honoured for at most eleven, and for those ten where `cacheTtlMs` is 0.
 */
export function jwtTokens(options: JwtTokenOptions = {}): TokenVerifier {
  const keySets = createKeySets(options)
  const algorithms = [...(options.algorithms ?? ALGORITHMS)]
  const verify: TokenVerifier = async (token, expected) => {
    const [header = {}, claims = {}] = token.split('.', 2).map(read)
    const { iss: issuer } = claims
    if (typeof issuer !== 'string') return refuse('It is no JWT that names its issuer')
    if (!expected.authorizationServers.includes(issuer)) {
      return refuse(foreignIssuer(issuer, expected))
    }
    const keys = await keySets(issuer)
    try {
      await verifySignature(token, keys, algorithms)
    } catch (error) {
      if (!(error instanceof JOSEError) || KEY_FAULT.test(error.code)) throw error
      const { alg, kid } = header
      return refuse(`${error.message}, with the algorithm ${quote(alg)} and the key ${quote(kid)}`)
    }
    const { typ = 'jwt', b64 } = header
    if (typeof typ !== 'string' || !TYPE.test(typ)) {
      return refuse(`Its type is ${quote(typ)}, not that of an access token`)
    }
    // What was signed is then not what was read (RFC 7797)
    if (b64 === false) return refuse('Its claims are signed without being encoded')
    const odd = ['exp', 'nbf', 'iat'].find(
      (name) => typeof claims[name] !== 'number' && (name === 'exp' || name in claims),
    )
    return odd === undefined
      ? tokenOf(claims)
      : refuse(`Its "${odd}" is ${quote(claims[odd])}, not a time`)
  }
  return cacheTokens(verify, options)
}

function refuse(refused: string): RefusedToken {
  return { refused }
}

/** Checks the signature, with all keys that could have made it where the token names none. */
async function verifySignature(token: string, keys: FindKey, algorithms: string[]): Promise<void> {
  try {
    await compactVerify(token, keys, { algorithms })
  } catch (several) {
    if (!(several instanceof JWKSMultipleMatchingKeys)) throw several
    for await (const key of several) {
      try {
        await compactVerify(token, key, { algorithms })
        return
      } catch (error) {
        if (!(error instanceof JWSSignatureVerificationFailed)) throw error
      }
    }
    throw new JWSSignatureVerificationFailed()
  }
}

/** What a part of a JWT says, if it is one; unverified. */
function read(part: string): JsonObject {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(decode(part))
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}
