/**
 * The parts of listed tools that a client stores: which arguments are also sent as HTTP headers
 * (`x-mcp-header`), and the output schema.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#custom-headers-from-tool-parameters
 */
import { SdkError } from '../protocol/errors.ts'
import {
  encodeHeaderParams,
  findHeaderParams,
  type HeaderParams,
} from '../protocol/header-params.ts'
import type { Tool, JsonObject } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'

/** What a client stores of one tool. */
interface ToolSchema {
  /** The parameters that are also sent as headers, or the reason why their annotations are invalid. */
  readonly header: HeaderParams
  /** The output schema, which is not validated yet. */
  readonly output: unknown
}

/**
 * The schemas of the tools in the latest list, by name. The schemas of the previous list are kept too, so
 * that calls find their tool while the list is being fetched again.
 */
export class ToolSchemas {
  #tools = new Map<string, ToolSchema>()
  #earlierTools = this.#tools

  /**
   * Stores a page of tools.
   *
   * @param isFirst Whether this is the first page of a list.
   * @param onFault Called for each tool whose header annotations are invalid. Such tools are not
   *   returned. Omit `onFault` if the transport has no headers: tools with invalid annotations are then
   *   returned as well.
   * @returns The tools that can be called.
   */
  storePage(
    tools: readonly Tool[],
    isFirst: boolean,
    onFault?: (name: string, fault: string) => void,
  ): Tool[] {
    if (isFirst) {
      this.#earlierTools = this.#tools
      this.#tools = new Map()
    }
    return tools.filter(({ name, inputSchema, outputSchema }) => {
      const headerParams = isObject(inputSchema) ? findHeaderParams(inputSchema) : { params: [] }
      this.#tools.set(name, { header: headerParams, output: outputSchema })
      if (!headerParams.fault || !onFault) return true
      onFault(name, headerParams.fault)
      return false
    })
  }

  #find(name: string): ToolSchema | undefined {
    return this.#tools.get(name) ?? this.#earlierTools.get(name)
  }

  /** The schema of a tool's structured output, if it has one and has been listed. */
  output(name: string): unknown {
    return this.#find(name)?.output
  }

  /**
   * The headers for a tool call. Undefined until the tool has been listed.
   *
   * @throws {SdkError} `INVALID_USE` if the tool's annotations are invalid, or a number cannot be sent
   *   exactly.
   */
  headers(name: string, args: JsonObject): Record<string, string> | undefined {
    const headerParams = this.#find(name)?.header
    if (!headerParams) return undefined
    if (headerParams.fault) {
      throw new SdkError('INVALID_USE', `Tool "${name}" cannot be called: ${headerParams.fault}`)
    }
    return encodeHeaderParams(headerParams.params, args)
  }
}
