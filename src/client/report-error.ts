/**
 * Reporting errors to the application that no call of its own fails with.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
 */
import { callHook, ignore } from '../patterns/hooks.ts'
import type { BaseConnectOptions } from './options.ts'

/** Reports an error; the hook that receives it cannot break anything. */
export function reportError(
  { onError = console.error }: Pick<BaseConnectOptions, 'onError'>,
  error: unknown,
): void {
  // Errors of `onError` itself cannot be reported
  callHook(() => onError(error instanceof Error ? error : new Error(String(error))), ignore)
}
