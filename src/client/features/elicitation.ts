/**
 * Elicitation: the server asks the user to fill in a form, or to visit a URL.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
 */
import { McpError } from '../../protocol/errors.ts'
import type { JsonObject } from '../../protocol/jsonrpc.ts'
import type { ClientCapabilities, ElicitParams, ElicitResult } from '../../protocol/types.ts'
import { isObject } from '../../protocol/validate.ts'

/** URLs that a user may be sent to: nothing that runs code, or that the network can change. */
const SAFE_URL = /^https:|^http:\/\/(?:localhost|127\.0\.0\.1|\[::1])(?![\w.-])/i

/** Why params are none of `elicitation/create` that may be asked. */
export function elicitationFault(
  { mode = 'form', message, requestedSchema, url }: JsonObject,
  { elicitation = {} }: ClientCapabilities,
): string | undefined {
  if (typeof message !== 'string') return '"message" must be a string'
  // An empty capability means forms
  const declared =
    mode === 'form' ? elicitation.form || !elicitation.url : mode === 'url' && elicitation.url
  if (!declared) return `Mode "${String(mode)}" was not declared`
  if (mode === 'form') return isObject(requestedSchema) ? undefined : '"requestedSchema" is missing'
  return SAFE_URL.test(String(url)) ? undefined : '"url" is not safe'
}

const ACTION = /^(?:accept|decline|cancel)$/

/**
 * What is sent of an answer. An accepted form gets the defaults of the fields that it leaves out.
 *
 * @throws {McpError} `INVALID_USE` when it is no answer.
 */
export function elicitResult(params: ElicitParams, answer: ElicitResult): JsonObject {
  const { content, ...result } = answer ?? {}
  if (!ACTION.test(result.action ?? '')) {
    throw new McpError('INVALID_USE', 'The answer has no action')
  }
  if (result.action !== 'accept' || params.mode === 'url') return result
  const defaults = Object.entries(params.requestedSchema.properties ?? {})
    .filter(([, field]) => isObject(field) && field.default !== undefined)
    .map(([name, field]) => [name, field.default])
  return { ...result, content: { ...(Object.fromEntries(defaults) as JsonObject), ...content } }
}
