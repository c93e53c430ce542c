/**
 * Converts what a tool returns, which is content or a result, to a complete result, and validates the
 * structured content against the tool's output schema.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result
 */
import { wellFormedJson } from '../../protocol/well-formed-json.ts'
import { ProtocolError } from '../../protocol/errors.ts'
import { INTERNAL_ERROR } from '../../protocol/error-codes.ts'
import { describeIssues, type StandardSchema } from '../../protocol/standard-schema.ts'
import type {
  CallToolResult,
  InputRequiredResult,
  Meta,
  Result,
  Tool,
} from '../../protocol/types.ts'
import { isObject } from '../../protocol/validate.ts'
import { requireBlocks, type Content } from './results.ts'

/** A tool's result; structured content is repeated as text if there is no `content`. */
export interface ToolResult<Structured = unknown> {
  content?: Content
  structuredContent?: Structured
  /** Whether the tool failed in a way that the model should see. */
  isError?: boolean
  resultType?: string
  _meta?: Meta
}

/**
 * Makes the compiler's error readable if a handler returns a plain object: the name of the member
 * that the error reports as missing explains what to do. No value has this type.
 */
interface PlainObject {
  readonly 'return { structuredContent: … } instead': never
  readonly [name: string]: unknown
}

/** What a tool may return: content, a result, or, without an output schema, nothing. */
export type ToolReturn<Structured = unknown> =
  | Content
  | ToolResult<Structured>
  | InputRequiredResult
  | PlainObject
  | (unknown extends Structured ? void : never)

/** The tool that returned a result, and its output schema. */
interface ReturningTool {
  readonly item: Tool
  readonly output: StandardSchema | undefined
}

/** Converts a tool's return value to a result, and validates it against the tool's output schema. */
export function toResult(
  returned: ToolReturn,
  { item, output }: ReturningTool,
): Result | Promise<Result> {
  if (returned === undefined && !output) return { content: [] }
  const label = `The tool "${item.name}"`
  const isContent = isObject(returned) ? 'type' in returned : Array.isArray(returned)
  if (typeof returned === 'string' || isContent) {
    const content = requireBlocks(returned as Content, label)
    // With an output schema, a result without structured content must be an error
    return output ? { content, isError: true } : { content }
  }
  const result = requireResult(returned, label)
  if ((result.resultType ?? 'complete') !== 'complete') return result
  return output && !result.isError ? validateOutput(result, output, label) : withText(result, label)
}

const RESULT_MEMBERS = ['content', 'structuredContent', 'isError', 'resultType', '_meta']

/** Rejects return values that cannot be meant as a result. */
function requireResult(returned: unknown, label: string): Partial<CallToolResult> {
  if (isObject(returned) && typeof (returned.isError ?? false) === 'boolean') {
    const names = Object.keys(returned)
    if (names.length === 0 || names.some((name) => RESULT_MEMBERS.includes(name))) return returned
  }
  throw new TypeError(
    `${label} returned neither content nor a result: return text, or { structuredContent: … }`,
  )
}

async function validateOutput(
  result: Partial<CallToolResult>,
  output: StandardSchema,
  label: string,
): Promise<Result> {
  const validation = await output['~standard'].validate(result.structuredContent)
  if (!validation.issues) return withText({ ...result, structuredContent: validation.value }, label)
  throw new ProtocolError(
    INTERNAL_ERROR,
    `${label} returned structured content that its output schema rejects: ${describeIssues(validation.issues)}`,
  )
}

/** Repeats structured content as text, for clients that do not read it. */
function withText(result: Partial<CallToolResult>, label: string): Result {
  const { content, structuredContent } = result
  const text = (): Content =>
    structuredContent === undefined ? [] : wellFormedJson(structuredContent)
  const blocks = requireBlocks(content ?? text(), label)
  return Array.isArray(content) ? result : { ...result, content: blocks }
}
