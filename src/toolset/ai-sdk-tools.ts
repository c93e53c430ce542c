/**
 * The tools of a server as a tool set of the AI SDK, which is the `ai` package. This module does not import
 * the package: you pass the function `jsonSchema` of the package.
 *
 * @see https://ai-sdk.dev/docs/foundations/tools
 */
import type { BaseClient } from '../client/base-client.ts'
import type { RequestOptions } from '../client/request-options.ts'
import { isContentBlock } from '../protocol/content.ts'
import type {
  CallToolResult,
  ContentBlock,
  ProgressParams,
  Tool,
  JsonObject,
} from '../protocol/types.ts'
import { toolFunctions, type ToolFunction, type ToolsetOptions } from './functions.ts'

/** How the tool set is created. */
export interface AiSdkToolsOptions<Schema> extends ToolsetOptions {
  /** The function `jsonSchema` of the `ai` package. */
  readonly jsonSchema: (schema: never) => Schema
  /** Called with the progress of every call. */
  readonly onProgress?:
    | ((progress: ProgressParams, call: { toolCallId: string; tool: Tool }) => void)
    | undefined
}

/** The part of a result that a model sees. */
export type AiSdkOutput =
  | { type: 'content'; value: AiSdkContent[] }
  | { type: 'error-text'; value: string }

/** One part of the output that a model sees. */
export type AiSdkContent =
  | { type: 'text'; text: string }
  | { type: 'image-data' | 'file-data'; data: string; mediaType: string }

/** One tool in the format of the `ai` package. */
export interface AiSdkTool<Schema> {
  /** The tool's description. */
  readonly description?: string
  /** The schema of the arguments, as `jsonSchema` of the `ai` package returns it. */
  readonly inputSchema: Schema
  /** Runs the tool on the server. `abortSignal` cancels the call. */
  execute(
    args: JsonObject,
    options: { toolCallId: string; abortSignal?: AbortSignal | undefined },
  ): Promise<CallToolResult>
  /** Converts a result for the model: to text, images and files, or to an error if the tool failed. */
  toModelOutput(options: { output: CallToolResult }): AiSdkOutput
}

/**
 * Lists a server's tools in the format of `generateText({ tools })` and similar functions.
 *
 * @example
 * ```ts
 * import { generateText, jsonSchema, type LanguageModel } from 'ai'
 * import { connect } from 'edgewise/client'
 * import { aiSdkTools } from 'edgewise/toolset'
 *
 * export async function ask(model: LanguageModel, prompt: string): Promise<string> {
 *   await using client = await connect('https://example.com/mcp')
 *   const tools = await aiSdkTools(client, { jsonSchema })
 *   return (await generateText({ model, prompt, tools })).text
 * }
 * ```
 *
 * @throws {ProtocolError | SdkError} The errors of `client.tools()`.
 * @throws {RangeError} If `maxNameLength` is less than 8.
 * @see https://ai-sdk.dev/docs/foundations/tools
 */
export async function aiSdkTools<Schema>(
  client: BaseClient,
  { jsonSchema, onProgress, ...options }: AiSdkToolsOptions<Schema>,
): Promise<Record<string, AiSdkTool<Schema>>> {
  const functions = await toolFunctions(client, options)
  const createEntry = (toolFunction: ToolFunction): [string, AiSdkTool<Schema>] => {
    const { name, description, parameters, tool } = toolFunction
    return [
      name,
      {
        ...(description !== undefined && { description }),
        inputSchema: jsonSchema(parameters as never),
        execute: (args, { toolCallId, abortSignal }) => {
          const request: RequestOptions = {
            signal: abortSignal,
            ...(onProgress && {
              onProgress: (progress) => onProgress(progress, { toolCallId, tool }),
            }),
          }
          return toolFunction.call(args, request)
        },
        toModelOutput: ({ output }) => toModelOutput(output),
      },
    ]
  }
  return Object.fromEntries(functions.map(createEntry))
}

/** Converts a result for a model. */
function toModelOutput({ content, structuredContent, isError }: CallToolResult): AiSdkOutput {
  const parts = content.map(toModelContent)
  if (parts.length === 0 && structuredContent !== undefined) {
    parts.push({ type: 'text', text: JSON.stringify(structuredContent) })
  }
  if (!isError) return { type: 'content', value: parts }
  const texts = parts.map((part) => (part.type === 'text' ? part.text : `[${part.mediaType}]`))
  return { type: 'error-text', value: texts.join('\n') || 'The tool failed' }
}

/** Converts a content block for a model. Unknown blocks, such as those of later revisions, become JSON text. */
function toModelContent(block: ContentBlock): AiSdkContent {
  if (!isContentBlock(block)) return { type: 'text', text: JSON.stringify(block) }
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text }
    case 'image':
      return { type: 'image-data', data: block.data, mediaType: block.mimeType }
    case 'audio':
      return { type: 'file-data', data: block.data, mediaType: block.mimeType }
    case 'resource_link':
      return { type: 'text', text: [block.title ?? block.name, block.uri].join(': ') }
    case 'resource': {
      const { resource } = block
      if ('text' in resource) return { type: 'text', text: resource.text }
      const { blob: data, mimeType: mediaType = 'application/octet-stream' } = resource
      return { type: 'file-data', data, mediaType }
    }
  }
}
