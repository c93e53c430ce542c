/**
 * Elicitation: the server asks the user to fill in a form, or to visit a URL.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
 */
import { McpError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { ElicitParams } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import type { Handlers, InputContext } from './options.ts'

/** URLs that a user may be sent to: nothing that runs code, or that the network can change. */
const SAFE_URL = /^(?:https:\/\/|http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?:[:/?#]|$))/i

/** Why params are none of `elicitation/create`. */
export function elicitationFault(params: JsonObject): string | undefined {
  const { mode = 'form', message, requestedSchema, url } = params
  if (typeof message !== 'string') return '"message" must be a string'
  if (mode === 'form') return isObject(requestedSchema) ? undefined : '"requestedSchema" is missing'
  if (mode !== 'url') return `Mode "${String(mode)}" is unknown`
  if (typeof url !== 'string' || !SAFE_URL.test(url)) return '"url" must be an https URL'
  return undefined
}

/**
 * Has the user answer. An accepted form gets the defaults of the fields that it leaves out.
 *
 * @throws {McpError} `INVALID_USE` when the handler's answer is none.
 */
export async function elicit(
  handler: Handlers['onElicit'],
  params: ElicitParams,
  context: InputContext,
): Promise<JsonObject> {
  const answer = await handler?.(params, context)
  const { action, content, ...others } = answer ?? { action: 'cancel' }
  if (action !== 'accept' && action !== 'decline' && action !== 'cancel') {
    throw new McpError('INVALID_USE', `"${String(action)}" is no answer to an elicitation`)
  }
  if (action !== 'accept' || params.mode === 'url') return { ...others, action }
  return { ...others, action, content: { ...defaults(params.requestedSchema), ...content } }
}

/** The defaults of a form. */
function defaults(schema: unknown): JsonObject {
  const fields = isObject(schema) && isObject(schema.properties) ? schema.properties : {}
  const found = Object.entries(fields).flatMap(([name, field]): [string, unknown][] => {
    return isObject(field) && field.default !== undefined ? [[name, field.default]] : []
  })
  return Object.fromEntries(found)
}
