/**
 * Elicitation: the server asks the user to fill in a form or to visit a URL.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
 */
import { SdkError } from '../../protocol/errors.ts'
import type {
  ClientCapabilities,
  ElicitParams,
  ElicitResult,
  JsonObject,
} from '../../protocol/types.ts'
import { isObject } from '../../protocol/validate.ts'

/**
 * URLs that are safe to open: `https:`, and `http:` on this machine. They run no script, and the network
 * cannot change their content.
 */
const SAFE_URL = /^https:|^http:\/\/(?:localhost|127\.0\.0\.1|\[::1])(?::\d+)?(?:[/?#]|$)/i

/** The first fault of the params of `elicitation/create`: an invalid member, or a mode that was not declared. */
export function elicitationFault(
  { mode = 'form', message, requestedSchema, url }: JsonObject,
  { elicitation = {} }: ClientCapabilities,
): string | undefined {
  if (typeof message !== 'string') return '"message" must be a string'
  // An empty capability means forms only
  const hasForms = elicitation.form || !elicitation.url
  const isDeclared = (mode === 'form' && hasForms) || (mode === 'url' && elicitation.url)
  if (!isDeclared) return `Mode "${String(mode)}" was not declared`
  if (mode === 'form') return isObject(requestedSchema) ? undefined : '"requestedSchema" is missing'
  return SAFE_URL.test(String(url)) ? undefined : '"url" is not safe'
}

const ACTION = /^(?:accept|decline|cancel)$/

/**
 * Converts the handler's result to the response. An accepted form gets the defaults of omitted fields.
 *
 * @throws {SdkError} `INVALID_USE` if the result is invalid.
 */
export function elicitResult(params: ElicitParams, answer: ElicitResult): JsonObject {
  const { content, ...result } = answer ?? {}
  if (!ACTION.test(result.action ?? '')) {
    throw new SdkError('INVALID_USE', 'The answer has no action')
  }
  if (result.action !== 'accept' || params.mode === 'url') return result
  const defaults = Object.entries(params.requestedSchema.properties ?? {})
    .filter(([, field]) => isObject(field) && field.default !== undefined)
    .map(([name, field]) => [name, field.default])
  return { ...result, content: { ...(Object.fromEntries(defaults) as JsonObject), ...content } }
}
