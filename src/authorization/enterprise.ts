/**
 * Enterprise-managed authorization: the company's identity provider decides which users may access which servers.
 * It issues an assertion (ID-JAG), which the MCP server's authorization server exchanges for a token.
 *
 * @see https://modelcontextprotocol.io/extensions/auth/enterprise-managed-authorization
 */
import type { AuthorizationServer } from 'oauth4webapi'
import type { Awaitable } from '../patterns/awaitable.ts'
import type { ClientCredentialsOptions } from './client-credentials.ts'
import { oauthClient, type ClientCredentials } from './clients.ts'
import { requireKnown, type OptionNames } from '../patterns/known-options.ts'
import { AuthorizationError } from './errors.ts'
import { ISSUER_OPTION_NAMES, createIssuerBoundSignIn } from './issuer.ts'
import { redeemAssertion } from './jwt-bearer.ts'
import { discoverServer } from './metadata.ts'
import type { GrantRequest } from './grant.ts'
import type { SignIn } from './provider.ts'
import { unexpectedResponse, type Network } from './requests.ts'
import type { TokenRecord } from './store.ts'
import { postGrant, scopeParam } from './token.ts'

const TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:'
const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
const ID_JAG_PROFILE = 'urn:ietf:params:oauth:grant-profile:id-jag'

/** The token that identifies the user to the identity provider. */
export interface SubjectToken {
  readonly token: string
  /**
   * The type of the token.
   *
   * @default 'id_token'
   */
  readonly type?: 'id_token' | 'refresh_token' | 'saml2'
}

/** The company's identity provider, and the client's credentials there. */
export interface IdentityProvider extends ClientCredentials {
  /** The URL of the provider's token endpoint. By default it is read from the provider's metadata. */
  readonly tokenEndpoint?: string
}

/** How a company's users are signed in. */
export interface EnterpriseOptions extends ClientCredentialsOptions {
  readonly identityProvider: IdentityProvider
  /** Returns an unexpired token of the user from the single sign-on. Called for each new access token. */
  readonly subject: () => Awaitable<SubjectToken>
}

/**
 * Signs the users of a company in through its identity provider: pass the result to `connect` as
 * `auth`. The user is not sent to the MCP server's authorization server. Clients declare the
 * extension `io.modelcontextprotocol/enterprise-managed-authorization`.
 *
 * @throws {TypeError} If the issuer is missing, or an option is unknown.
 * @see https://modelcontextprotocol.io/extensions/auth/enterprise-managed-authorization
 */
export function enterpriseManaged(options: EnterpriseOptions): SignIn {
  requireKnown('enterpriseManaged', options, {
    ...ISSUER_OPTION_NAMES,
    clientId: 1,
    clientSecret: 1,
    authentication: 1,
    identityProvider: 1,
    subject: 1,
  } satisfies OptionNames<EnterpriseOptions>)
  const obtain = async (request: GrantRequest): Promise<TokenRecord> => {
    const { issuer, authorization_grant_profiles_supported: profiles } = request.server
    if (Array.isArray(profiles) && !profiles.includes(ID_JAG_PROFILE)) {
      throw new AuthorizationError('token', `"${issuer}" does not accept ID-JAG assertions`)
    }
    const client = oauthClient(request.server, options)
    return redeemAssertion(request, client, await exchangeSubjectToken(request, options))
  }
  return createIssuerBoundSignIn(
    options,
    obtain,
    'io.modelcontextprotocol/enterprise-managed-authorization',
  )
}

/** Exchanges the user's token for an assertion at the identity provider. */
async function exchangeSubjectToken(
  { network, server, resource, scopes }: GrantRequest,
  { identityProvider, subject }: EnterpriseOptions,
): Promise<string> {
  // The application chose the provider, so the provider may have a private address. Requests to the provider need no
  // DPoP proofs, because the assertion is not bound to the client's key
  const trustedNetwork: Network = { ...network, allowed: () => true, proofs: undefined }
  const { issuer, tokenEndpoint } = identityProvider
  const provider: AuthorizationServer = tokenEndpoint
    ? { issuer, token_endpoint: tokenEndpoint }
    : await discoverServer(trustedNetwork, issuer)
  const { token, type = 'id_token' } = await subject()
  const params = {
    requested_token_type: `${TOKEN_TYPE}id-jag`,
    audience: server.issuer,
    resource,
    ...scopeParam(scopes),
    subject_token: token,
    subject_token_type: TOKEN_TYPE + type,
  }
  const client = oauthClient(provider, identityProvider)
  const target = { network: trustedNetwork, server: provider }
  const answer = await postGrant(target, client, TOKEN_EXCHANGE, params, 'token')
  const { ok, json = {} } = answer
  const { access_token: assertion, issued_token_type: issuedType } = json
  if (!ok || issuedType !== `${TOKEN_TYPE}id-jag` || typeof assertion !== 'string') {
    throw unexpectedResponse('token', 'The identity provider returned no ID-JAG assertion', answer)
  }
  return assertion
}
