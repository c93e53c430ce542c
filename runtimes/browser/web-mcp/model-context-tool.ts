/**
 * One tool of a server as the browser's agent sees and calls it (WebMCP).
 *
 * @see https://webmachinelearning.github.io/webmcp
 */
import { toolHints, type Client } from '../../../src/presets/client.ts'
import type { CallToolResult, JsonObject, Tool } from '../../../src/index.ts'
import type { ModelContextAnnotations, ModelContextTool } from './model-context.ts'

/** How a tool is presented to agents. */
export interface ToolPresentation {
  /**
   * Replaces the annotations that are derived from the annotations of the MCP tool. By default, a tool without
   * annotations is declared as destructive, so that browsers may ask the user to confirm each call. Its
   * results are declared as untrusted.
   */
  readonly annotate?: ((tool: Tool) => ModelContextAnnotations) | undefined
  /**
   * What agents receive. With `full`, they receive the `content`, `structuredContent` and `isError` of the
   * result. With `structured`, output schemas are declared. From a tool with an output schema, agents receive
   * only the `structuredContent`. Failures and the results of other tools are passed as with `full`.
   *
   * @default 'full'
   */
  readonly results?: 'full' | 'structured' | undefined
}

/**
 * Creates the tool to register with the browser.
 *
 * @param call Calls the tool. Never rejects unless the signal is aborted.
 */
export function modelContextTool(
  tool: Tool,
  { annotate, results }: ToolPresentation,
  call: (input: JsonObject, signal?: AbortSignal) => Promise<CallToolResult>,
): ModelContextTool {
  const { name, title, description, inputSchema } = tool
  const { readOnlyHint, destructiveHint, openWorldHint } = toolHints(tool)
  const outputSchema = results === 'structured' ? tool.outputSchema : undefined
  return {
    name,
    // Browsers require a description
    description: description || title || name,
    ...(title !== undefined && { title }),
    inputSchema,
    ...(outputSchema && { outputSchema }),
    annotations: {
      readOnlyHint,
      consequentialHint: destructiveHint && !readOnlyHint,
      untrustedContentHint: openWorldHint,
      ...annotate?.(tool),
    },
    execute: async (input, options) => {
      // Browsers of older drafts pass something else as `options`
      const signal = options?.signal instanceof AbortSignal ? options.signal : undefined
      const { content, structuredContent, isError } = await call(input, signal)
      if (outputSchema && structuredContent !== undefined && !isError) return structuredContent
      return {
        content,
        ...(structuredContent !== undefined && { structuredContent }),
        ...(isError && { isError }),
      }
    },
  }
}

/** Calls a tool. Returns failures as results, because browsers hide the reason of a rejection from the agent. */
export async function callTool(
  client: Client,
  name: string,
  input: JsonObject,
  signal: AbortSignal | undefined,
): Promise<CallToolResult> {
  try {
    return await client.callTool(name, input, signal && { signal })
  } catch (error) {
    if (signal?.aborted) throw error
    const text = error instanceof Error ? error.message : String(error)
    return { content: [{ type: 'text', text }], isError: true }
  }
}
