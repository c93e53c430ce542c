/**
 * Sign-in and token storage for the runtimes; not part of the public API.
 *
 * @module
 */
export type { AuthorizationRedirect, RedirectResult } from '../authorization/authorization-flow.ts'
export { createFileTokenStore, type Files } from '../authorization/file-tokens.ts'
export {
  createLoopbackFlow,
  openBrowser,
  type LoopbackHost,
  type LoopbackOptions,
} from '../authorization/loopback.ts'
