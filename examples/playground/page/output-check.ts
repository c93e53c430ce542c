/**
 * Compares the structured content of a result with the output schema of its tool. Loaded on demand.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#output-schema
 */
import type { CallToolResult, JsonObject } from 'edgewise/browser'
import { outputValidator } from 'edgewise/json-schema'

const validate = outputValidator()

/** Returns how a result differs from its schema; `undefined` if it does not. */
export function outputProblem(
  schema: JsonObject,
  { structuredContent }: CallToolResult,
): string | undefined {
  if (structuredContent === undefined) {
    return 'The tool declares an output schema, but the result has no structured content'
  }
  const issues = validate(schema, structuredContent)?.replace(
    /: Instance type "(\w+)" is invalid\. Expected "(\w+)"/g,
    ' must be of type “$2”, not “$1”',
  )
  return issues && `The structured content does not match the output schema: ${issues}`
}
