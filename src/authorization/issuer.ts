/**
 * Binds credentials to one authorization server, so that an MCP server cannot direct them to a
 * different authorization server.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/client-registration#authorization-server-binding
 */
import type { OptionNames } from '../patterns/known-options.ts'
import { AuthorizationError } from './errors.ts'
import { AUTHORIZATION_OPTION_NAMES, type AuthorizationOptions, type Grant } from './grant.ts'
import { TokenProvider, type SignIn } from './provider.ts'

/** The options of a sign-in whose credentials belong to one authorization server. */
export interface IssuerOptions extends AuthorizationOptions {
  /**
   * The issuer of the authorization server that the credentials belong to. The credentials are sent
   * only to this server, even if an MCP server names a different one.
   */
  readonly issuer: string
}

/** The names of the options in {@link IssuerOptions}. The values have no meaning. */
export const ISSUER_OPTION_NAMES: OptionNames<IssuerOptions> = {
  issuer: 1,
  ...AUTHORIZATION_OPTION_NAMES,
}

/**
 * Creates a provider that signs in with the credentials for one authorization server, and sends them only to it.
 *
 * @param extensionId The extension to declare, if any.
 * @throws {TypeError} If the issuer is missing.
 */
export function createIssuerBoundSignIn(
  options: IssuerOptions,
  obtain: Grant['obtain'],
  extensionId?: string,
): SignIn {
  const { issuer } = options
  if (!issuer) throw new TypeError('"issuer" is missing: set it to the issuer of the credentials')
  const requireIssuer = (issuers: readonly string[], mcpServer: string): void => {
    if (issuers.includes(issuer)) return
    const problem = `"${mcpServer}" names "${issuers.join('", "')}"`
    const message = `${problem}, but the credentials are for "${issuer}"`
    throw new AuthorizationError('registration', message)
  }
  const grant: Grant = {
    obtain(request) {
      // Servers of 2025-03-26 name no issuer: they are their own authorization servers
      requireIssuer([request.server.issuer], request.mcpServer)
      return obtain(request)
    },
  }
  // Checks the issuer before metadata is read, so that other issuers receive no request
  const chooseIssuer = (issuers: readonly string[], mcpServer: string): string => {
    if (issuers.length > 0) requireIssuer(issuers, mcpServer)
    return issuer
  }
  return new TokenProvider(grant, { ...options, chooseIssuer }, extensionId)
}
