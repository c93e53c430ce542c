/**
 * An authorization server for tests that listens: registration, codes with PKCE, refresh tokens that
 * rotate, client credentials, DPoP. Users consent at once. What breaks a rule is refused.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { base64url, calculateJwkThumbprint, decodeProtectedHeader, type JWK } from 'jose'
import { toNodeListener } from '../../runtimes/node/index.ts'
import { Issuer } from './issuer.ts'

/** How the authorization server behaves; can be changed at any time. */
export interface AuthorizationServerRules {
  /** Whether it gives refresh tokens. */
  refresh: boolean
  /** The user whose consent it has. */
  subject: string
}

interface Grant {
  client: string
  scope: string
  resource: string
  challenge?: string
  redirectUri?: string
}

/** An authorization server that listens until it is disposed. */
export class AuthorizationServer implements AsyncDisposable {
  readonly issuer: Issuer
  readonly rules: AuthorizationServerRules = { refresh: true, subject: 'ada' }
  /** The requests that it received, such as `POST /token refresh_token`. */
  readonly log: string[] = []
  readonly #issued: string[] = []
  readonly #expired = new Set<string>()
  readonly #clients = new Map<string, string[]>()
  readonly #codes = new Map<string, Grant>()
  readonly #refreshTokens = new Map<string, Grant>()
  readonly #stop: () => Promise<void>

  private constructor(issuer: Issuer, stop: () => Promise<void>) {
    this.issuer = issuer
    this.#stop = stop
  }

  static async listen(): Promise<AuthorizationServer> {
    const answer = { current: (_request: Request) => Promise.resolve(new Response()) }
    const http = createServer(toNodeListener((request) => answer.current(request)))
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    const { port } = http.address() as AddressInfo
    const issuer = await Issuer.make(`http://127.0.0.1:${port}`)
    const server = new AuthorizationServer(issuer, async () => {
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    })
    answer.current = (request) => server.#answer(request)
    return server
  }

  /** Lets all access tokens be expired, as if time had passed. */
  expireTokens(): void {
    for (const token of this.#issued) this.#expired.add(token)
  }

  /** Whether an access token was expired. */
  isExpired(token: string): boolean {
    return this.#expired.has(token)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop()
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    const { issuer } = this.issuer
    const entry = `${request.method} ${pathname}`
    switch (entry) {
      case 'GET /.well-known/oauth-authorization-server':
        return Response.json({
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          registration_endpoint: `${issuer}/register`,
          jwks_uri: `${issuer}/jwks`,
          response_types_supported: ['code'],
          grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
          code_challenge_methods_supported: ['S256'],
          token_endpoint_auth_methods_supported: ['none', 'client_secret_basic'],
          authorization_response_iss_parameter_supported: true,
          dpop_signing_alg_values_supported: ['ES256'],
        })
      case 'GET /jwks':
        return Response.json(this.issuer.jwks)
      case 'POST /register':
        this.log.push(entry)
        return this.#register((await request.json()) as { redirect_uris: string[] })
      case 'GET /authorize':
        this.log.push(`${entry} ${searchParams.get('scope')}`)
        return this.#authorize(searchParams)
      case 'POST /token': {
        const form = new URLSearchParams(await request.text())
        this.log.push(`${entry} ${form.get('grant_type')}`)
        return this.#token(form, request.headers)
      }
    }
    return new Response('Not found', { status: 404 })
  }

  #register(metadata: { redirect_uris: string[] }): Response {
    const id = crypto.randomUUID()
    this.#clients.set(id, metadata.redirect_uris)
    return Response.json({ ...metadata, client_id: id }, { status: 201 })
  }

  #authorize(params: URLSearchParams): Response {
    const client = params.get('client_id') ?? ''
    const redirectUri = params.get('redirect_uri') ?? ''
    const challenge = params.get('code_challenge')
    const resource = params.get('resource')
    if (!this.#clients.get(client)?.includes(redirectUri)) return invalid('invalid_client')
    if (params.get('response_type') !== 'code' || !challenge || !resource) {
      return invalid('invalid_request')
    }
    if (params.get('code_challenge_method') !== 'S256') return invalid('invalid_request')
    const code = crypto.randomUUID()
    const scope = params.get('scope') ?? ''
    this.#codes.set(code, { client, scope, resource, challenge, redirectUri })
    const back = new URL(redirectUri)
    back.searchParams.set('code', code)
    back.searchParams.set('iss', this.issuer.issuer)
    const state = params.get('state')
    if (state !== null) back.searchParams.set('state', state)
    return new Response(null, { status: 302, headers: { location: back.href } })
  }

  async #token(form: URLSearchParams, headers: Headers): Promise<Response> {
    const kind = form.get('grant_type')
    if (kind === 'authorization_code') {
      const code = form.get('code') ?? ''
      const grant = this.#codes.get(code)
      this.#codes.delete(code)
      const verifier = new TextEncoder().encode(form.get('code_verifier') ?? '')
      const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', verifier))
      const fits =
        grant?.challenge === base64url.encode(hash) &&
        grant.redirectUri === form.get('redirect_uri') &&
        grant.client === form.get('client_id') &&
        grant.resource === form.get('resource')
      return fits ? this.#issue(grant, headers) : invalid('invalid_grant')
    }
    if (kind === 'refresh_token') {
      const old = form.get('refresh_token') ?? ''
      const grant = this.#refreshTokens.get(old)
      this.#refreshTokens.delete(old)
      const fits =
        grant?.resource === form.get('resource') && grant.client === form.get('client_id')
      return fits ? this.#issue(grant, headers) : invalid('invalid_grant')
    }
    return invalid('unsupported_grant_type')
  }

  async #issue(grant: Grant, headers: Headers): Promise<Response> {
    const { client, scope, resource } = grant
    const { refresh, subject } = this.rules
    const proof = headers.get('dpop')
    const jwk = proof === null ? undefined : (decodeProtectedHeader(proof).jwk as JWK)
    const access = await this.issuer.token({
      sub: subject,
      aud: resource,
      client_id: client,
      scope,
      ...(jwk && { cnf: { jkt: await calculateJwkThumbprint(jwk) } }),
    })
    this.#issued.push(access)
    const refreshToken = crypto.randomUUID()
    if (refresh) this.#refreshTokens.set(refreshToken, grant)
    return Response.json(
      {
        access_token: access,
        token_type: jwk ? 'DPoP' : 'Bearer',
        expires_in: 300,
        scope,
        ...(refresh && { refresh_token: refreshToken }),
      },
      { headers: { 'cache-control': 'no-store' } },
    )
  }
}

function invalid(error: string): Response {
  return Response.json({ error }, { status: 400 })
}
