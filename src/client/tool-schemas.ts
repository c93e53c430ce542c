/**
 * What a client has to remember of the tools that it has seen: the arguments that headers repeat,
 * and the schema of the output.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#custom-headers-from-tool-parameters
 */
import { McpError } from '../protocol/errors.ts'
import {
  encodeHeaderParams,
  findHeaderParams,
  type HeaderParams,
} from '../protocol/header-params.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Tool } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'

interface Remembered {
  readonly found: HeaderParams
  readonly output: unknown
}

/**
 * The remembered parts of the tools last listed, by name. Those of the list before are forgotten
 * only when yet another begins, so that calls meanwhile find their tool.
 */
export class ToolSchemas {
  #tools = new Map<string, Remembered>()
  #earlier = this.#tools

  /**
   * Remembers a page of tools.
   *
   * @param isFirst Whether a list begins with it.
   * @param onFault Learns of tools whose annotations are invalid; they are left out. Without it,
   *   where no headers repeat arguments, they stay.
   * @returns The tools that can be called.
   */
  remember(
    tools: readonly Tool[],
    isFirst: boolean,
    onFault?: (name: string, fault: string) => void,
  ): Tool[] {
    if (isFirst) {
      this.#earlier = this.#tools
      this.#tools = new Map()
    }
    return tools.filter(({ name, inputSchema, outputSchema }) => {
      const found = isObject(inputSchema) ? findHeaderParams(inputSchema) : { params: [] }
      this.#tools.set(name, { found, output: outputSchema })
      if (!found.fault || !onFault) return true
      onFault(name, found.fault)
      return false
    })
  }

  #find(name: string): Remembered | undefined {
    return this.#tools.get(name) ?? this.#earlier.get(name)
  }

  /** The schema of a tool's structured output, when it has one and has been listed. */
  output(name: string): unknown {
    return this.#find(name)?.output
  }

  /**
   * The headers for a call of a tool. None while the tool has not been listed.
   *
   * @throws {McpError} `INVALID_USE` when the tool's annotations are invalid, or a number cannot
   *   travel.
   */
  headers(name: string, args: JsonObject): Record<string, string> | undefined {
    const known = this.#find(name)?.found
    if (!known) return undefined
    if (known.fault) {
      throw new McpError('INVALID_USE', `Tool "${name}" cannot be called: ${known.fault}`)
    }
    return encodeHeaderParams(known.params, args)
  }
}
