/**
 * Asking where the user lets the server work.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/roots
 */
import type { Root } from '../protocol/types.ts'
import { askClient, type Asker } from './ask.ts'

/** Asks for the client's roots; see {@link file://./context.ts}. */
export async function listRoots(asker: Asker): Promise<Root[]> {
  const answer = await askClient(asker, { method: 'roots/list' }, undefined, (a) =>
    Array.isArray(a.roots),
  )
  return answer.roots as Root[]
}
