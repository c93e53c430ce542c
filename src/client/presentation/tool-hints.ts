/**
 * The annotations of a tool.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations
 */
import type { Tool, ToolAnnotations } from '../../protocol/types.ts'

/**
 * Returns the hints of a tool. Omitted hints get cautious defaults: the tool writes, is destructive, is
 * not idempotent and has access to the open world. Hints are not guarantees; never base a decision on
 * the hints of an untrusted server.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations
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
