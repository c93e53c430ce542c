/**
 * Asking where the user lets the server work.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/roots
 */
import type { Root } from '../protocol/types.ts'
import { askClient } from './ask.ts'
import type { RequestContext } from './context.ts'

/** Asks for the client's roots; see {@link file://./context.ts}. */
export async function listRoots(ctx: RequestContext): Promise<Root[]> {
  const answer = await askClient(ctx, { method: 'roots/list' }, undefined, (a) =>
    Array.isArray(a.roots),
  )
  return answer.roots as Root[]
}
