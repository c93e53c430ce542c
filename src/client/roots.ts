/**
 * Roots: the places that the server may work in.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/roots
 */
import { McpError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Handlers, InputContext } from './options.ts'

const TRAVERSAL = /[\\/](?:\.|%2e){2}(?:[\\/]|$)/i

/**
 * Tells the roots.
 *
 * @throws {McpError} `INVALID_USE` when one is no `file:` URI, or climbs out of where it starts.
 */
export async function listRoots(
  roots: Handlers['roots'],
  context: InputContext,
): Promise<JsonObject> {
  const list = typeof roots === 'function' ? await roots(context) : (roots ?? [])
  for (const { uri } of list) {
    if (!uri.startsWith('file://') || TRAVERSAL.test(uri)) {
      throw new McpError('INVALID_USE', `"${uri}" cannot be a root`)
    }
  }
  return { roots: [...list] }
}
