/**
 * Signs clients in to MCP servers: pass the result of {@link signIn} to `connect` as `auth`.
 *
 * @module
 */
export { signIn } from './sign-in.ts'
export { clientCredentials } from './client-credentials.ts'
export { enterpriseManaged } from './enterprise.ts'
export { workloadIdentity } from './workload-identity.ts'
export { privateKeyJwt } from './private-key-jwt.ts'
export { dpop } from './dpop.ts'
export type { Proofs } from './requests.ts'
export type { SignIn } from './provider.ts'
export type { AuthorizationFlow } from './authorization-flow.ts'
export { clientMetadata } from './registration.ts'
export { forgetRegistration, listRegistrations, saveRegistration } from './registration-store.ts'
export { keyedMutex } from '../patterns/keyed-mutex.ts'
export { memoryTokenStore, type TokenStore } from './store.ts'
export { AuthorizationError } from './errors.ts'
