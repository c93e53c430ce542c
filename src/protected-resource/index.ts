/**
 * Servers that want access tokens: what they publish, check and refuse.
 *
 * @module
 */
export { protectedResource } from './protected-resource.ts'
export type { ProtectedResourceOptions } from './options.ts'
export type { AccessToken, Expected, RefusedToken, TokenVerifier } from './access-token.ts'
export { jwtTokens, type JwtTokenOptions } from './jwt-tokens.ts'
export type { KeySetOptions } from './key-sets.ts'
export { introspectedTokens, type IntrospectionOptions } from './introspected-tokens.ts'
export { rememberTokens, type RememberOptions } from './remembered-tokens.ts'
export {
  dpopProofs,
  type DpopOptions,
  type DpopVerifier,
  type ProofFault,
  type Proven,
} from './dpop-proofs.ts'
export type { NonceOptions } from './nonces.ts'
export { createReplays, type Replays } from './replays.ts'
