/**
 * Servers that require access tokens: their metadata, token verification and error responses.
 *
 * @module
 */
export { protectedResource } from './protected-resource.ts'
export type { AccessToken, TokenVerifier } from './access-token.ts'
export { jwtTokens } from './jwt-tokens.ts'
export { introspectedTokens } from './introspected-tokens.ts'
export { cacheTokens } from './remembered-tokens.ts'
export { dpopProofs } from './dpop-proofs.ts'
export type { ReplayCache } from './replays.ts'
export type { DpopVerifier } from './dpop-proofs.ts'
