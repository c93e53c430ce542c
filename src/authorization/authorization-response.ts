/**
 * What the authorization server sends the user back with.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2
 * @see https://www.rfc-editor.org/rfc/rfc9207#section-2.4
 */
import type { AuthorizationServer } from 'oauth4webapi'
import { AuthorizationError } from './errors.ts'

/** Parameters of flows that were not asked for: signed, hybrid and implicit ones. */
const OTHER_FLOWS = ['response', 'id_token', 'token']

/**
 * Returns the code of a response, once it is known to answer the request and to come from the server.
 *
 * @param callback The URL that the user was sent to.
 * @param state The state of the request.
 * @throws {AuthorizationError} With the server's answer if that is an error.
 */
export function readCode(server: AuthorizationServer, callback: string, state: string): string {
  const { issuer, authorization_endpoint: url = '' } = server
  const params = new URLSearchParams(URL.canParse(callback) ? new URL(callback).search : '')
  const dropped = (why: string): AuthorizationError =>
    new AuthorizationError('authorization', `The response was dropped: ${why}`)
  const read = (name: string): string | undefined => {
    const [value, another] = params.getAll(name)
    if (another !== undefined) throw dropped(`it has "${name}" twice`)
    return value
  }
  const from = read('iss')
  if (from ? from !== issuer : server.authorization_response_iss_parameter_supported) {
    throw dropped(`its "iss" is not "${issuer}"`)
  }
  if (read('state') !== state) throw dropped('its "state" is not that of the request')
  const error = read('error')
  if (error) {
    const description = params.get('error_description') ?? undefined
    const said = `${error}${description ? `, ${description.slice(0, 300)}` : ''}`
    const answer = { url, status: 302, error, description }
    throw new AuthorizationError('authorization', `"${issuer}" gave no access (${said})`, answer)
  }
  const code = read('code')
  if (!code || OTHER_FLOWS.some((name) => params.has(name))) throw dropped('it has no code alone')
  return code
}
