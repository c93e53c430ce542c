/**
 * Servers that require access tokens: their metadata, token verification and error responses.
 *
 * @module
 */
export { protectedResource } from './protected-resource.ts'
export type { AccessToken, TokenVerifier } from './access-token.ts'
export { jwtTokens } from './jwt-tokens.ts'
export { introspectedTokens } from './introspected-tokens.ts'
export { cacheTokens } from './token-cache.ts'
export { dpopProofs } from './dpop-proofs.ts'
export type { ReplayCache } from './replay-cache.ts'
export type { DpopVerifier } from './dpop-proofs.ts'
