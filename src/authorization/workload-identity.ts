/**
 * Workload identity: a program authenticates with a JWT that its platform issues, without a secret or registration.
 *
 * @see https://github.com/modelcontextprotocol/modelcontextprotocol/pull/1933
 */
import type { Awaitable } from '../patterns/awaitable.ts'
import { requireKnown, type OptionNames } from '../patterns/known-options.ts'
import { AuthorizationError } from './errors.ts'
import type { GrantRequest } from './grant.ts'
import { ISSUER_OPTION_NAMES, createIssuerBoundSignIn, type IssuerOptions } from './issuer.ts'
import { redeemAssertion } from './jwt-bearer.ts'
import type { SignIn } from './provider.ts'
import type { TokenRecord } from './store.ts'
import type { OAuthClient } from './token.ts'

/** How a workload authenticates. */
export interface WorkloadIdentityOptions extends IssuerOptions {
  /**
   * Returns the platform's JWT for an authorization server, for example from a file or a metadata
   * service. Called for each token, because platforms rotate their JWTs.
   */
  readonly assertion: (issuer: string) => Awaitable<string>
  /**
   * Whether clients declare the extension `io.modelcontextprotocol/auth/wif`, an id that the
   * protocol does not define yet.
   *
   * @default false
   */
  readonly declare?: boolean
}

/** A client without credentials, because the assertion identifies the workload. The id is only a placeholder. */
const anonymousClient: OAuthClient = { client_id: 'workload', authenticate: () => {} }

/**
 * Signs a workload in: pass the result to `connect` as `auth`. An assertion that was rejected is not sent again.
 *
 * @throws {TypeError} If the issuer is missing, or an option is unknown.
 * @see https://www.rfc-editor.org/rfc/rfc7523#section-2.1
 * @see https://github.com/modelcontextprotocol/modelcontextprotocol/pull/1933
 */
export function workloadIdentity(options: WorkloadIdentityOptions): SignIn {
  requireKnown('workloadIdentity', options, {
    ...ISSUER_OPTION_NAMES,
    assertion: 1,
    declare: 1,
  } satisfies OptionNames<WorkloadIdentityOptions>)
  let rejectedAssertion: string | undefined
  const obtain = async (request: GrantRequest): Promise<TokenRecord> => {
    const { issuer } = request.server
    const assertion = await options.assertion(issuer)
    if (assertion === rejectedAssertion) {
      const message = `"${issuer}" rejected this assertion before: return another one`
      throw new AuthorizationError('token', message)
    }
    try {
      return await redeemAssertion(request, anonymousClient, assertion)
    } catch (error) {
      if (error instanceof AuthorizationError && error.answer?.error) {
        rejectedAssertion = assertion
      }
      throw error
    }
  }
  return createIssuerBoundSignIn(
    options,
    obtain,
    options.declare ? 'io.modelcontextprotocol/auth/wif' : undefined,
  )
}
