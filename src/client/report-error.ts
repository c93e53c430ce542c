/**
 * Reports an error to the application if no call can reject with it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
 */
import { callHook, ignore } from '../patterns/hooks.ts'
import type { BaseConnectOptions } from './options.ts'

/** Calls `onError` with an error. */
export function reportError(
  { onError = console.error }: Pick<BaseConnectOptions, 'onError'>,
  error: unknown,
): void {
  // An exception in `onError` itself cannot be reported anywhere, so it is ignored
  callHook(() => onError(error instanceof Error ? error : new Error(String(error))), ignore)
}
