/**
 * What a tool says of itself.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations
 */
import type { Tool, ToolAnnotations } from '../../protocol/types.ts'

/**
 * The hints of a tool, with the defaults of what it leaves out, which are the careful ones: it
 * writes, destroys, does more when called again, and reaches the open world. Hints are no promise;
 * never decide by those of a server that is not trusted.
 */
export function toolHints({
  annotations = {},
}: Pick<Tool, 'annotations'>): Required<Omit<ToolAnnotations, 'title'>> {
  const {
    readOnlyHint = false,
    destructiveHint = true,
    idempotentHint = false,
    openWorldHint = true,
  } = annotations
  return { readOnlyHint, destructiveHint, idempotentHint, openWorldHint }
}
