/**
 * What only the runtimes need to sign in and keep tokens; the package does not export it.
 *
 * @module
 */
export type { AuthorizationRedirect, RedirectResult } from '../authorization/authorization-flow.ts'
export { fileTokensOn, type Files } from '../authorization/file-tokens.ts'
export { isPrivateHost } from '../authorization/urls.ts'
export {
  loopbackOn,
  openBrowser,
  type LoopbackHost,
  type LoopbackOptions,
} from '../authorization/loopback.ts'
