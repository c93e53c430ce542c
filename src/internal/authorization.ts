/**
 * Sign-in and token storage for the runtimes; not exported by the package.
 *
 * @module
 */
export type { AuthorizationRedirect, RedirectResult } from '../authorization/authorization-flow.ts'
export { fileTokensOn, type Files } from '../authorization/file-tokens.ts'
export {
  loopbackOn,
  openBrowser,
  type LoopbackHost,
  type LoopbackOptions,
} from '../authorization/loopback.ts'
