/**
 * JWT access tokens, verified with the keys that their issuer publishes.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9068#section-4
 */
import { decode } from 'jose/base64url'
import { JOSEError, JWKSMultipleMatchingKeys, JWSSignatureVerificationFailed } from 'jose/errors'
import { compactVerify } from 'jose/jws/compact/verify'
import { requireKnown, type OptionNames } from '../patterns/known-options.ts'
import type { JsonObject } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import {
  foreignIssuer,
  quote,
  tokenOf,
  type RefusedToken,
  type TokenVerifier,
} from './access-token.ts'
import { createKeySets, type FindKey, type KeySetOptions } from './key-sets.ts'
import { cacheTokens, type CacheTokensOptions } from './token-cache.ts'

/** How tokens are verified, and where the keys come from: by default from the issuer's metadata. */
export interface JwtTokenOptions extends KeySetOptions, CacheTokensOptions {
  /** The accepted algorithms. By default the common asymmetric algorithms are accepted. */
  algorithms?: readonly string[]
}

/** The names of the options. The values have no meaning. */
const OPTION_NAMES: OptionNames<JwtTokenOptions> = {
  jwksUri: 1,
  jwks: 1,
  timeoutMs: 1,
  fetch: 1,
  cacheTtlMs: 1,
  maxEntries: 1,
  algorithms: 1,
}

const ALGORITHMS = 'ES256 ES384 ES512 EdDSA Ed25519 PS256 PS384 PS512 RS256 RS384 RS512'.split(' ')
/**
 * The accepted `typ` values, which exclude other JWTs signed with the same keys, such as DPoP
 * proofs.
 */
const TYPE = /^(?:application\/)?(?:at\+)?jwt$/i
/**
 * The `jose` error codes that mean the issuer's keys are at fault; other errors concern the token.
 */
const KEY_FAULT = /^ERR_(?:JOSE_GENERIC|JWKS_INVALID|JWKS_TIMEOUT)$/

/**
 * Creates a verifier of JWTs, for the option `verify` of `protectedResource`.
 *
 * Key sets are fetched on first use and cached. They are fetched again after ten minutes, and when a
 * token names an unknown key, but at most every 30 seconds. After a failure of the issuer, they are
 * fetched again after 5 seconds; until then, requests whose token needs a key that is not cached are
 * answered with 503.
 *
 * A token with a valid signature is cached for a minute. A key that its issuer withdraws is
 * therefore accepted for at most eleven minutes, or ten if `cacheTtlMs` is 0.
 *
 * @example
 * ```ts
 * import { jwtTokens, protectedResource } from 'edgewise/protected-resource'
 *
 * export const auth = protectedResource({
 *   resource: 'https://notes.example/mcp',
 *   authorizationServers: ['https://auth.example.com'],
 *   verify: jwtTokens({ algorithms: ['ES256'] }),
 * })
 * ```
 *
 * @throws {TypeError} If `jwksUri` is not an HTTPS URL, except on localhost; or an option is unknown.
 * @throws {Error} If `jwks` is not a JSON Web Key Set.
 * @see https://www.rfc-editor.org/rfc/rfc9068#section-4
 */
export function jwtTokens(options: JwtTokenOptions = {}): TokenVerifier {
  requireKnown('jwtTokens', options, OPTION_NAMES)
  const keySets = createKeySets(options)
  const algorithms = [...(options.algorithms ?? ALGORITHMS)]
  const verify: TokenVerifier = async (token, expected) => {
    const [header = {}, claims = {}] = token.split('.', 2).map(decodePart)
    const { iss: issuer } = claims
    if (typeof issuer !== 'string') return refuse('It is not a JWT that names its issuer')
    if (!expected.authorizationServers.includes(issuer)) {
      return refuse(foreignIssuer(issuer, expected))
    }
    const findKey = await keySets(issuer)
    try {
      await verifySignature(token, findKey, algorithms)
    } catch (error) {
      if (!(error instanceof JOSEError) || KEY_FAULT.test(error.code)) throw error
      const { alg, kid } = header
      return refuse(`${error.message}, with the algorithm ${quote(alg)} and the key ${quote(kid)}`)
    }
    const { typ = 'jwt', b64 } = header
    if (typeof typ !== 'string' || !TYPE.test(typ)) {
      return refuse(`Its type is ${quote(typ)}, not that of an access token`)
    }
    // With `b64: false`, the signed bytes differ from the decoded claims (RFC 7797)
    if (b64 === false) return refuse('Its claims are signed without being encoded')
    const invalidClaim = ['exp', 'nbf', 'iat'].find(
      (name) => typeof claims[name] !== 'number' && (name === 'exp' || name in claims),
    )
    return invalidClaim === undefined
      ? tokenOf(claims)
      : refuse(`Its "${invalidClaim}" is ${quote(claims[invalidClaim])}, not a time`)
  }
  return cacheTokens(verify, options)
}

function refuse(refused: string): RefusedToken {
  return { refused }
}

/** Verifies the signature. If the token names no key, every key that may have signed it is tried. */
async function verifySignature(
  token: string,
  findKey: FindKey,
  algorithms: string[],
): Promise<void> {
  try {
    await compactVerify(token, findKey, { algorithms })
  } catch (cause) {
    if (!(cause instanceof JWKSMultipleMatchingKeys)) throw cause
    // The error iterates over the matching keys
    for await (const key of cause) {
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

/** Decodes a part of a JWT without verification; empty if it is invalid. */
function decodePart(part: string): JsonObject {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(decode(part))
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}
