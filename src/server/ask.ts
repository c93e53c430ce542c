/**
 * Puts a question to the client if the client declared that it can answer it.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#capability-negotiation
 */
import { missingCapabilities } from '../protocol/capabilities.ts'
import { McpError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { serverFacts } from '../protocol/server-facts.ts'
import type { RevisionFacts } from '../protocol/revisions.ts'
import type { InputRequest } from '../protocol/types.ts'
import type { Input } from '../patterns/input.ts'
import type { Exchange } from './exchange.ts'

const ASKABLE: readonly string[] = [
  'elicitation/create',
  'sampling/createMessage',
  'roots/list',
] satisfies InputRequest['method'][]

/** A request that may ask its client. */
export interface Asker {
  readonly exchange: Exchange
  readonly input: Input
}

/**
 * Asks the client.
 *
 * @throws {McpError} `CAPABILITY_MISSING` when the client did not declare what the question needs;
 *   its `data.requiredCapabilities` says what.
 */
export async function askClient(
  asker: Asker,
  request: InputRequest,
  key: string | undefined,
  accepts: (answer: JsonObject) => boolean | Promise<boolean>,
): Promise<JsonObject> {
  const { input, exchange } = asker
  try {
    // Where no way leads to the client, what it can is not known
    if (!input.refuses || isNewer(request, exchange.revision)) requireAskable(request, exchange)
    return await input.ask({ request, key, accepts })
  } catch (error) {
    if (error instanceof McpError && NO_ANSWER.includes(error.code)) unanswered.add(error)
    throw error
  }
}

const NO_ANSWER: readonly string[] = ['INVALID_MESSAGE', 'TIMEOUT']
/** The errors of questions that got no answer, or none that will do. */
const unanswered = new WeakSet<object>()

/** Whether a question got no answer, or none that will do; the error holds nothing of the server's. */
export function isUnanswered(error: unknown): error is McpError {
  return error instanceof McpError && unanswered.has(error)
}

/** Whether a revision does not have what is asked. */
function isNewer({ method }: InputRequest, revision: RevisionFacts): boolean {
  return method === 'elicitation/create' && serverFacts(revision).elicitation.length === 0
}

/**
 * Checks that the client may be asked.
 *
 * @throws {TypeError} when it is nothing that a client can be asked, or a URL holds credentials.
 * @throws {McpError} `CAPABILITY_MISSING` when it did not declare what that needs.
 */
export function requireAskable(request: InputRequest, { client, revision }: Exchange): void {
  if (!ASKABLE.includes(request.method)) {
    throw new TypeError(`A client cannot be asked "${request.method}"`)
  }
  if (request.params?.mode === 'url') requirePublicUrl(String(request.params.url))
  const requiredCapabilities = missingCapabilities(request, client.capabilities, revision)
  if (!requiredCapabilities) return
  const who = isNewer(request, revision) ? `Revision ${revision.version}` : 'The client'
  throw new McpError('CAPABILITY_MISSING', `${who} does not support "${request.method}"`, {
    data: { requiredCapabilities },
  })
}

/** Names of what must pass neither through the client nor through a URL that it sees. */
export const SECRET: RegExp =
  /^(?:password|passphrase|passcode|api[-_]?key|secret|credit[-_]?card|(?:access|refresh|id)[-_]?token)$/i

/** Refuses URLs that tell who the user is, or let in whoever opens them. */
function requirePublicUrl(url: string): void {
  const { username, password, searchParams } = new URL(url)
  if (!username && !password && ![...searchParams.keys()].some((name) => SECRET.test(name))) return
  throw new TypeError('A URL for the user cannot carry credentials: use createTickets')
}

/** Whether a question was refused because the client did not declare that it can answer it. */
export function isMissingCapability(error: unknown): error is McpError {
  return error instanceof McpError && error.code === 'CAPABILITY_MISSING'
}

/** Whether a question was refused because no way leads to the client. */
export function isUnsupported(error: unknown): error is McpError {
  return error instanceof McpError && error.code === 'UNSUPPORTED'
}
