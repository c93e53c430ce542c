/**
 * Mechanisms that the runtimes share with the entries; the package does not export them.
 *
 * @module
 */
export { callHook } from '../patterns/hooks.ts'
export { requireKnown, type OptionNames } from '../patterns/known-options.ts'
