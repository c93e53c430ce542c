/**
 * Tool arguments that HTTP headers repeat: the `x-mcp-header` annotations of a tool's input schema.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#custom-headers-from-tool-parameters
 */
import { ignore } from '../../patterns/hooks.ts'
import type { HeaderParam } from '../../protocol/header-params.ts'
import type { JsonObject } from '../../protocol/types.ts'
import { unavailable } from '../request/unavailable.ts'

/** How a server supports arguments that headers repeat. */
export interface HeaderParamSupport {
  /**
   * Finds the annotated arguments of a tool.
   *
   * @param label The schema, for the error message.
   * @throws {TypeError} If the annotations are invalid, or the server does not support them.
   */
  find(inputSchema: JsonObject, label: string): readonly HeaderParam[]
  /**
   * Checks the headers of a call.
   *
   * @throws {ProtocolError} `HEADER_MISMATCH` if they differ from the arguments.
   */
  check(headers: Headers, params: readonly HeaderParam[], toolArguments: unknown): void
}

/** Rejects tools whose arguments HTTP headers must repeat, because the server cannot check the headers. */
export const withoutHeaderParams: HeaderParamSupport = {
  find(inputSchema, label) {
    if (!JSON.stringify(inputSchema).includes('"x-mcp-header"')) return []
    throw unavailable(`${label} has "x-mcp-header", which`)
  },
  check: ignore,
}
