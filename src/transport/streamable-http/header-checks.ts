/**
 * Whether the headers of a stateless request repeat its body truly.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#standard-request-headers
 */
import { HEADER_MISMATCH, INVALID_PARAMS, ProtocolError } from '../../protocol/errors.ts'
import type { HeaderParam } from '../../protocol/header-params.ts'
import { decodeHeaderValue, HEADER_METHOD, HEADER_NAME } from '../../protocol/headers.ts'
import type { JsonRpcRequest } from '../../protocol/jsonrpc.ts'
import type { MethodFacts } from '../../protocol/methods.ts'
import { isObject, memberAt } from '../../protocol/validate.ts'

/**
 * Checks the version header against what the body says.
 *
 * @throws {ProtocolError} `HEADER_MISMATCH`.
 */
export function checkVersion(header: string, stated: string): void {
  if (header !== stated) throw mismatch('MCP-Protocol-Version')
}

/**
 * Checks `Mcp-Method`.
 *
 * @throws {ProtocolError} `HEADER_MISMATCH`.
 */
export function checkMethod(headers: Headers, method: string): void {
  if (headers.get(HEADER_METHOD) !== method) throw mismatch('Mcp-Method')
}

/**
 * Checks `Mcp-Name`, for the methods that have it; those of tasks may come without.
 *
 * @throws {ProtocolError} `HEADER_MISMATCH`, or `INVALID_PARAMS` when the body has no name.
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
  const header = headers.get(HEADER_NAME)
  // Clients that are widely used send none with a task's id
  if (header === null && method.startsWith('tasks/')) return
  if (header === null || decodeHeaderValue(header) !== name) throw mismatch('Mcp-Name')
}

/**
 * Checks the headers that repeat arguments of a tool. Integers compare by value; an argument that
 * is absent or `null` has no header.
 *
 * @throws {ProtocolError} `HEADER_MISMATCH`.
 */
export function checkParams(
  headers: Headers,
  params: readonly HeaderParam[],
  given: unknown,
): void {
  const args = isObject(given) ? given : {}
  for (const { header, path, type } of params) {
    const value = memberAt(args, path)
    const sent = headers.get(header)
    if (sent === null && value === undefined) continue
    const decoded = sent === null ? undefined : decodeHeaderValue(sent)
    if (decoded === undefined || !isSame(decoded, value, type)) throw mismatch(header)
  }
}

function isSame(sent: string, value: unknown, type: HeaderParam['type']): boolean {
  if (type !== 'integer') return sent === String(value)
  return /^-?\d+(?:\.0+)?$/.test(sent) && Number.isSafeInteger(value) && Number(sent) === value
}

function mismatch(header: string): ProtocolError {
  const message = `The "${header}" header is missing, malformed or differs from the body`
  return new ProtocolError(HEADER_MISMATCH, message)
}
