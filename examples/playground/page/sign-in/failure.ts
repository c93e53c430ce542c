/**
 * Explains why a sign-in failed, by its steps. Loaded on demand.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9728#section-3.3
 */
import type { AuthorizationError } from 'edgewise/authorization'
import { isObject } from 'edgewise/browser'
import { explain } from '../errors.ts'
import type { Explanation, FailureContext } from '../explanation.ts'
import { REGISTRATION, RESOURCE, SERVER, TOKEN } from './documents.ts'
import type { SignInStep } from './steps.ts'

/** The titles of the steps that an error can be about. */
const titles: { readonly [Step in AuthorizationError['step']]?: string } = {
  'resource-metadata': RESOURCE,
  'server-metadata': SERVER,
  registration: REGISTRATION,
  token: TOKEN,
  refresh: `${TOKEN} refresh`,
}

/** Why a sign-in failed, and its step that failed, if there is one. */
export interface SignInFailure {
  readonly explanation: Explanation
  readonly step: SignInStep | undefined
}

/**
 * Explains why a sign-in failed.
 *
 * @param steps The steps so far.
 * @param server The URL of the MCP server.
 */
export function explainSignIn(
  error: AuthorizationError,
  steps: readonly SignInStep[],
  server: string,
  context: FailureContext = {},
): SignInFailure {
  const explanation = explain(error, context)
  const failed = steps.findLast(({ title }) => title === titles[error.step])
  if (!failed) return { explanation, step: undefined }
  const { url, said } = failed
  const data = { step: error.step, url, document: said }
  // An earlier reason of the same step is more precise
  const isKnown = failed.state === 'failed' || failed.state === 'absent'
  const resource =
    error.step === 'resource-metadata' && isObject(said) ? said['resource'] : undefined
  if (isKnown || typeof resource !== 'string' || !error.message.includes(`"${resource}"`)) {
    const summary = isKnown ? failed.summary : error.message
    return { explanation: { ...explanation, data }, step: { ...failed, state: 'failed', summary } }
  }
  const summary = `“resource” is ${resource}; set it to ${server}`
  const why = `The metadata at ${url} belongs to another server, so a token for it must not be sent to this one.`
  const advice = [
    `In the metadata, “resource” is ${resource}: set it to ${server}.`,
    'Or connect to the URL in “resource”, if that is the address of the server.',
  ]
  return {
    explanation: { ...explanation, why, advice, data },
    step: { ...failed, state: 'failed', summary },
  }
}
