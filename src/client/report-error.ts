/**
 * Passes errors that no call rejects with to the application.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
 */
import { callHook, ignore } from '../patterns/hooks.ts'
import type { BaseConnectOptions } from './options.ts'

/** Reports an error; exceptions of the hook are ignored. */
export function reportError(
  { onError = console.error }: Pick<BaseConnectOptions, 'onError'>,
  error: unknown,
): void {
  // An error of `onError` itself cannot be reported anywhere
  callHook(() => onError(error instanceof Error ? error : new Error(String(error))), ignore)
}
