/**
 * Requesting the client's roots.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/roots
 */
import type { Root } from '../../protocol/types.ts'
import { isObject } from '../../protocol/validate.ts'
import { askClient, type InputRequester } from './ask.ts'

/** Without a key of its own, the input request gets a generated key. */
const NO_KEY = undefined

/** Whether a value is a list of roots. */
export function areRoots(value: unknown): boolean {
  return (
    Array.isArray(value) && value.every((root) => isObject(root) && typeof root.uri === 'string')
  )
}

/** Implements `Context.roots`. */
export async function listRoots(requester: InputRequester): Promise<Root[]> {
  const result = await askClient(requester, { method: 'roots/list' }, NO_KEY, ({ roots }) =>
    areRoots(roots),
  )
  return result.roots as Root[]
}
