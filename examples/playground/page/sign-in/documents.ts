/**
 * Describes the requests of a sign-in, and the documents that servers respond with.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9728
 * @see https://www.rfc-editor.org/rfc/rfc8414
 */
import type { JsonObject } from 'edgewise/browser'

/** The title of the step that reads the metadata of the MCP server. */
export const RESOURCE = 'Protected resource metadata'
/** The title of the step that reads the metadata of the authorization server. */
export const SERVER = 'Authorization server metadata'
/** The title of the step that registers the client. */
export const REGISTRATION = 'Client registration'
/** The title of the step that requests a token. */
export const TOKEN = 'Token'

/** Returns the title of a request, by its URL and body. */
export function titleOfRequest(url: string, { method, body }: RequestInit): string {
  const { pathname } = new URL(url)
  if (/\/\.well-known\/(?:oauth-authorization-server|openid-configuration)/.test(pathname)) {
    return SERVER
  }
  if (method !== 'POST') return RESOURCE
  const params = String(body)
  if (params.startsWith('{')) return REGISTRATION
  return params.includes('grant_type=refresh_token') ? `${TOKEN} refresh` : TOKEN
}

/** Describes the most important facts of a document in one line. */
export function describeDocument(title: string, document: JsonObject): string {
  return facts(title, document).filter(Boolean).join(' · ')
}

function facts(title: string, document: JsonObject): (string | false)[] {
  const list = (name: string): string => {
    const value = document[name]
    return Array.isArray(value) ? value.join(', ') : typeof value === 'string' ? value : ''
  }
  const named = (label: string, name: string): string | false =>
    list(name) !== '' && `${label} ${list(name)}`
  if (title === RESOURCE) {
    return [named('Signs in at', 'authorization_servers'), named('scopes', 'scopes_supported')]
  }
  if (title === SERVER) {
    const canRegister = document['registration_endpoint'] !== undefined
    const acceptsUrl = document['client_id_metadata_document_supported'] === true
    return [
      named('Issuer', 'issuer'),
      named('PKCE', 'code_challenge_methods_supported') || 'no PKCE',
      canRegister && 'registers clients',
      acceptsUrl && 'accepts client ID metadata documents',
    ]
  }
  if (title === REGISTRATION) return [named('Client ID', 'client_id')]
  const { expires_in: seconds, refresh_token: refresh } = document
  return [
    named('Scopes', 'scope') || 'Issued',
    typeof seconds === 'number' && `expires in ${Math.round(seconds / 60)} min`,
    refresh !== undefined && 'can be refreshed',
  ]
}
