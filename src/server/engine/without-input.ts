/**
 * A server that never asks its clients for input.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
import { ProtocolError } from '../../protocol/errors.ts'
import { INTERNAL_ERROR } from '../../protocol/error-codes.ts'
import type { ClientInput } from '../definition.ts'
import type { UnavailableMode } from '../request/ask-mode.ts'
import { TinyRequestContext } from '../request/tiny-request-context.ts'

// Clients never see `needs`: methods of the context that ask for input throw earlier, and their
// error names the import to use
const UNAVAILABLE: UnavailableMode = { kind: 'unavailable', needs: 'edgewise/server' }

/** Rejects every attempt to ask for input. */
export const withoutInput: ClientInput = {
  options: {},
  configure: () => UNAVAILABLE,
  createContext: (_server, message, exchange) => new TinyRequestContext(message, exchange),
  describeError: () => undefined,
  suspend: (_server, _suspension, { method }) => {
    throw cannotAsk(method)
  },
}

/** Creates the error for a request that asks for input where this is impossible. */
export function cannotAsk(method: string): ProtocolError {
  return new ProtocolError(INTERNAL_ERROR, `"${method}" cannot ask for input`)
}
