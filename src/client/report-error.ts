/**
 * Telling the application of what no call of its own fails with.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
 */
import { callHook, ignore } from '../patterns/hooks.ts'
import type { LeanOptions } from './options.ts'

/** Tells of a problem; the hook that hears of it cannot break anything. */
export function tellProblem(
  { onError = console.error }: Pick<LeanOptions, 'onError'>,
  error: unknown,
): void {
  // Errors of `onError` itself cannot be reported
  callHook(() => onError(error instanceof Error ? error : new Error(String(error))), ignore)
}
