/**
 * Roots: the places that the server may work in.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/roots
 */
import { McpError } from '../../protocol/errors.ts'
import type { JsonObject } from '../../protocol/jsonrpc.ts'
import type { Root } from '../../protocol/types.ts'

/** A `file:` URI that does not climb. */
const ROOT = /^file:\/\/(?!.*[\\/](?:\.|%2e){2}(?:[\\/]|$))/i

/**
 * What is told of the roots.
 *
 * @throws {McpError} `INVALID_USE` when one is no `file:` URI, or climbs out of where it starts.
 */
export function rootsResult(roots: readonly Root[]): JsonObject {
  const wrong = roots.find(({ uri }) => !ROOT.test(uri))
  if (wrong) throw new McpError('INVALID_USE', `"${wrong.uri}" cannot be a root`)
  return { roots }
}
