/**
 * Signs clients in to MCP servers: give what {@link signIn} returns to `connect` as `auth`.
 *
 * @module
 */
export { signIn, type SignInOptions } from './sign-in.ts'
export type { IssuerOptions } from './issuer.ts'
export { clientCredentials, type MachineOptions } from './client-credentials.ts'
export {
  enterpriseManaged,
  type EnterpriseOptions,
  type IdentityProvider,
  type SubjectToken,
} from './enterprise.ts'
export { workloadIdentity, type WorkloadIdentityOptions } from './workload-identity.ts'
export { privateKeyJwt, type PrivateKeyJwtOptions } from './private-key-jwt.ts'
export { dpop, type DpopOptions } from './dpop.ts'
export type { AuthorizationOptions } from './grant.ts'
export type { SignIn } from './provider.ts'
export type {
  AuthorizationFlow,
  RedirectResult,
  AuthorizationRedirect,
} from './authorization-flow.ts'
export { clientMetadata, type ClientIdentity, type RegistrationOptions } from './registration.ts'
export {
  forgetRegistration,
  listRegistrations,
  saveRegistration,
  type Registration,
} from './registrations.ts'
export type { ClientCredentials } from './clients.ts'
export { keyedMutex } from '../patterns/keyed-mutex.ts'
export { memoryTokens, type TokenRecord, type TokenStore } from './store.ts'
export { AuthorizationError, type AuthorizationAnswer, type AuthorizationStep } from './errors.ts'
export { parseChallenges, type Challenge } from './challenge.ts'
export type { Proofs } from './requests.ts'
export { isPrivateHost, type UrlPolicy } from './urls.ts'
export { openBrowser, type LoopbackListener, type LoopbackOptions } from './loopback.ts'
