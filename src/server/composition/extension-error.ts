/**
 * Errors whose codes an extension of the protocol defines.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#error-codes
 */
import { ProtocolError } from '../../protocol/errors.ts'

/** An error with a code that an extension defines: clients receive it, although the code is reserved. */
export class ExtensionError extends ProtocolError {}
