/**
 * The headers that repeat arguments of a tool. The tool's input schema annotates these arguments with `x-mcp-header`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#custom-headers-from-tool-parameters
 */
import { findHeaderParams, type HeaderParam } from '../../protocol/header-params.ts'
import { memberAt } from '../../protocol/validate.ts'
import type { HeaderParamSupport } from '../../server/features/header-params.ts'
import { headerMatches, mismatch } from './header-checks.ts'

/**
 * Finds the annotated arguments, and checks their headers. Integers are compared by value. If an argument is absent or
 * `null`, its header must be absent.
 */
export const headerParams: HeaderParamSupport = {
  find(inputSchema, label) {
    const { params, fault } = findHeaderParams(inputSchema)
    if (fault === undefined) return params
    throw new TypeError(`${label} is invalid: ${fault}`)
  },
  check(headers, params, toolArguments) {
    for (const { header, path, type } of params) {
      const argument = memberAt(toolArguments, path)
      if (argument === undefined && !headers.has(header)) continue
      if (!headerMatches(headers, header, (value) => isSame(value, argument, type))) {
        throw mismatch(header)
      }
    }
  },
}

/** Whether the value of a header equals an argument of the given type. */
function isSame(value: string, argument: unknown, type: HeaderParam['type']): boolean {
  if (type !== 'integer') return value === String(argument)
  const isInteger = /^-?\d+(?:\.0+)?$/.test(value) && Number.isSafeInteger(argument)
  return isInteger && Number(value) === argument
}
