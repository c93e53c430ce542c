/**
 * What only the runtimes need to sign in and keep tokens; the package does not export it.
 *
 * @module
 */
export { fileTokensOn, type Files } from '../authorization/file-tokens.ts'
export { loopbackOn, type LoopbackHost } from '../authorization/loopback.ts'
