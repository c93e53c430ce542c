/**
 * Checks that the headers of a stateless request match its body.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#standard-request-headers
 */
import { ProtocolError } from '../../protocol/errors.ts'
import { HEADER_MISMATCH, INVALID_PARAMS } from '../../protocol/error-codes.ts'
import { decodeHeaderValue, HEADER_NAME, singleValue } from '../../protocol/headers.ts'
import type { JsonRpcRequest } from '../../protocol/types.ts'
import type { MethodFacts } from '../../protocol/methods.ts'

/**
 * Checks that the value of a header equals the value in the body.
 *
 * @throws {ProtocolError} `HEADER_MISMATCH` if the values differ.
 */
export function checkSame(
  header: string,
  headerValue: string | null | undefined,
  bodyValue: string,
): void {
  if (headerValue !== bodyValue) throw mismatch(header)
}

/**
 * Checks the header `Mcp-Name`, for methods that require it. Requests about tasks may omit it.
 *
 * @throws {ProtocolError} `HEADER_MISMATCH` if the header differs from the body; `INVALID_PARAMS` if the body has no
 *   name.
 */
export function checkName(
  headers: Headers,
  { method, params }: JsonRpcRequest,
  { nameParam }: MethodFacts,
): void {
  if (!nameParam) return
  const name = params?.[nameParam]
  if (typeof name !== 'string') {
    throw new ProtocolError(INVALID_PARAMS, `"${method}" needs a "${nameParam}"`)
  }
  // Widely used clients omit the header for task ids
  if (method.startsWith('tasks/') && !headers.has(HEADER_NAME)) return
  if (!headerMatches(headers, HEADER_NAME, (value) => value === name)) throw mismatch('Mcp-Name')
}

/**
 * Whether a header has the expected value. A proxy may have joined several equal values with commas, but a single value
 * may also contain commas. Both interpretations of the header are tried.
 */
export function headerMatches(
  headers: Headers,
  name: string,
  isExpected: (value: string) => boolean,
): boolean {
  const matches = (encoded: string | null | undefined): boolean => {
    const value = typeof encoded === 'string' ? decodeHeaderValue(encoded) : undefined
    return value !== undefined && isExpected(value)
  }
  return matches(headers.get(name)) || matches(singleValue(headers, name))
}

/** Creates the error for a header that differs from the body. */
export function mismatch(header: string): ProtocolError {
  const message = `The "${header}" header is missing, malformed or differs from the body`
  return new ProtocolError(HEADER_MISMATCH, message)
}
