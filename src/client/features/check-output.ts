/**
 * Validates structured output against the schema of its tool.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#output-schema
 */
import { SdkError } from '../../protocol/errors.ts'
import type { CallToolResult } from '../../protocol/types.ts'
import { isComplete } from '../check-result.ts'

/**
 * Validates the result of a tool that has an output schema. Results with `isError` have no output.
 *
 * @param validate Returns what is wrong with a value, or undefined.
 * @throws {SdkError} `INVALID_MESSAGE`.
 */
export function checkOutput(
  name: string,
  result: CallToolResult,
  validate: (value: unknown) => string | undefined,
): void {
  if (result.isError === true || !isComplete(result)) return
  const fault = 'structuredContent' in result ? validate(result.structuredContent) : 'it is missing'
  if (!fault) return
  const message = `Tool "${name}" returned invalid structured content: ${fault}`
  throw new SdkError('INVALID_MESSAGE', message, { data: result })
}
