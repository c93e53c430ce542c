/** A user of the official clients, both versions of whose provider it is: consents, and remembers. */
import type { DpopSession, OAuthDiscoveryState } from '@modelcontextprotocol/client'

interface Tokens {
  access_token: string
  token_type: string
  refresh_token?: string
}
interface Registration {
  client_id: string
}

/** The user, and what the client keeps of signing in. */
export class OfficialUser {
  readonly redirectUrl = 'http://127.0.0.1:9/callback'
  readonly clientMetadata = {
    client_name: 'Official client',
    redirect_uris: [this.redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'none',
  }
  /** What the last visit to the authorization server came back with. */
  callback = new URLSearchParams()
  saved: Tokens | undefined
  readonly #session: DpopSession | undefined
  #registration: Registration | undefined
  #verifier = ''
  #discovered: OAuthDiscoveryState | undefined

  constructor(session?: DpopSession) {
    this.#session = session
  }

  dpop(): DpopSession | undefined {
    return this.#session
  }
  clientInformation(): Registration | undefined {
    return this.#registration
  }
  saveClientInformation(registration: Registration): void {
    this.#registration = registration
  }
  tokens(): Tokens | undefined {
    return this.saved
  }
  saveTokens(tokens: Tokens): void {
    this.saved = tokens
  }
  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier
  }
  codeVerifier(): string {
    return this.#verifier
  }
  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovered = state
  }
  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovered
  }
  async redirectToAuthorization(url: URL): Promise<void> {
    const response = await fetch(url, { redirect: 'manual' })
    this.callback = new URL(response.headers.get('location') ?? 'about:blank').searchParams
  }
}
