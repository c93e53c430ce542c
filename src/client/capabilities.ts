/**
 * What a client declares: its handlers, and what the application adds.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#capability-negotiation
 */
import { McpError } from '../protocol/errors.ts'
import type { ClientCapabilities } from '../protocol/types.ts'
import type { ConnectOptions } from './options.ts'

/**
 * The capabilities that the options amount to.
 *
 * @throws {McpError} `INVALID_USE` when one is declared that no handler answers.
 */
export function declaredCapabilities(options: ConnectOptions): ClientCapabilities {
  const { onElicit, onSample, roots, capabilities: more = {} } = options
  const handled = { elicitation: onElicit, sampling: onSample, roots }
  for (const [name, handler] of Object.entries(handled)) {
    if (more[name] && !handler) {
      throw new McpError('INVALID_USE', `Capability "${name}" is declared, but nothing handles it`)
    }
  }
  const declared: ClientCapabilities = { ...more }
  if (onElicit) declared.elicitation ??= { form: {} }
  if (onSample) declared.sampling ??= {}
  if (roots) declared.roots ??= { listChanged: true }
  return declared
}
