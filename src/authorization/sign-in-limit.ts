/**
 * Limits how many sign-ins an MCP server can cause, because each interrupts the user. The sign-ins are stored in the
 * token store, so that the limit applies to all pages and processes together.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#step-up-authorization-flow
 */
import { AuthorizationError } from './errors.ts'
import type { TokenStore } from './store.ts'

/** The period in which the sign-ins of one server are counted, in milliseconds. */
const PERIOD_MS = 600_000

/** Arguments for an error that neither a response nor another error has caused. */
const NO_ANSWER = undefined
const NO_CAUSE = undefined

/** A sign-in that a server caused. */
interface CausedSignIn {
  /** When the user was asked to sign in, in milliseconds since 1970. */
  readonly at: number
  /** The scopes that the server demanded, separated by spaces, if its demand caused the sign-in. */
  readonly scopes: string | undefined
}

/** The key under which the token store has the sign-ins that a server caused. */
export function signInsKey(server: string): string {
  return `sign-ins ${server}`
}

/** The sign-ins that a server caused in the last period. */
async function recentSignIns(tokens: TokenStore, server: string): Promise<CausedSignIn[]> {
  const { all } = (await tokens.get(signInsKey(server))) ?? {}
  const isRecent = ({ at }: CausedSignIn): boolean => Math.abs(Date.now() - at) < PERIOD_MS
  return Array.isArray(all) ? all.filter(isRecent) : []
}

/**
 * Checks that the scopes that a server demands are new.
 *
 * @param scopes The demanded scopes, sorted.
 * @throws {AuthorizationError} If the token has the scopes, or they were already requested.
 */
export async function assertScopesAreNew(
  tokens: TokenStore,
  server: string,
  scopes: readonly string[],
  granted: readonly string[] | undefined,
): Promise<void> {
  const demanded = scopes.join(' ')
  const hasAll = scopes.length > 0 && scopes.every((scope) => granted?.includes(scope))
  const signIns = await recentSignIns(tokens, server)
  if (hasAll || signIns.some((signIn) => signIn.scopes === demanded)) {
    const message = `"${server}" still requires the scopes "${demanded}" after they were requested`
    const [url = ''] = server.split('?', 1)
    const answer = { url, status: 403, error: 'insufficient_scope' }
    throw new AuthorizationError('access', message, answer, NO_CAUSE, 'FORBIDDEN')
  }
}

/**
 * Counts a sign-in.
 *
 * @param demanded The scopes that the server demanded, sorted and separated by spaces, if its demand caused the
 * sign-in.
 * @throws {AuthorizationError} If the limit is reached.
 */
export async function countSignIn(
  tokens: TokenStore,
  server: string,
  demanded: string | undefined,
  maxSignIns = 10,
): Promise<void> {
  const signIns = await recentSignIns(tokens, server)
  if (signIns.length >= maxSignIns) {
    const message = `"${server}" required more than ${maxSignIns} sign-ins within 10 minutes`
    const code = demanded === undefined ? 'UNAUTHORIZED' : 'FORBIDDEN'
    throw new AuthorizationError('access', message, NO_ANSWER, NO_CAUSE, code)
  }
  await tokens.set(signInsKey(server), { all: [...signIns, { at: Date.now(), scopes: demanded }] })
}
