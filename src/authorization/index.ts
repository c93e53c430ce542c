/**
 * Signs clients in to MCP servers: give what {@link signIn} returns to `connect` as `auth`.
 *
 * @module
 */
export { signIn, type SignInOptions } from './sign-in.ts'
export type { AuthorizationOptions, SignIn } from './provider.ts'
export type { Interaction, Returned, Visit } from './interaction.ts'
export { clientMetadata, type ClientIdentity, type RegistrationOptions } from './registration.ts'
export type { ClientCredentials } from './clients.ts'
export { memoryTokens, takeTurns, type TokenRecord, type TokenStore } from './store.ts'
export { AuthorizationError, type AuthorizationAnswer, type AuthorizationStep } from './errors.ts'
export { parseChallenges, type Challenge } from './challenge.ts'
export type { Proofs } from './requests.ts'
export { isPrivateHost, type UrlPolicy } from './urls.ts'
