/**
 * Roots: the directories that the server may work in.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/roots
 */
import { SdkError } from '../../protocol/errors.ts'
import type { Root, JsonObject } from '../../protocol/types.ts'

/** A `file:` URI without `..` segments. */
const ROOT = /^file:\/\/(?!.*[\\/](?:\.|%2e){2}(?:[\\/]|$))/i

/**
 * The result of `roots/list`.
 *
 * @throws {SdkError} `INVALID_USE` if a root is not a `file:` URI or contains `..` segments.
 */
export function rootsResult(roots: readonly Root[]): JsonObject {
  const invalid = roots.find(({ uri }) => !ROOT.test(uri))
  if (invalid) throw new SdkError('INVALID_USE', `"${invalid.uri}" cannot be a root`)
  return { roots }
}
