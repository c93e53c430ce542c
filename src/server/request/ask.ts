/**
 * Sends an input request to the client if the client declared the capability for it.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#capability-negotiation
 */
import { missingCapabilities } from '../../protocol/capabilities.ts'
import { SdkError } from '../../protocol/errors.ts'
import { ELICITATION, supports } from '../../protocol/revision-features.ts'
import type { RevisionFacts } from '../../protocol/revisions.ts'
import type { InputRequest, JsonObject } from '../../protocol/types.ts'
import type { Input } from '../../patterns/input.ts'
import { noteUnanswered } from './ask-errors.ts'
import type { Exchange } from './exchange.ts'

const INPUT_METHODS: readonly string[] = [
  'elicitation/create',
  'sampling/createMessage',
  'roots/list',
] satisfies InputRequest['method'][]

/** A request whose handler may ask its client for input. */
export interface InputRequester {
  readonly exchange: Exchange
  readonly input: Input
}

/**
 * Asks the client for input.
 *
 * @param key Identifies the input request across replays. By default it is generated.
 * @param accepts Whether an answer of the client is acceptable.
 * @throws {SdkError} `CAPABILITY_MISSING` if the client did not declare a required capability.
 *   `data.requiredCapabilities` contains this capability.
 */
export async function askClient(
  requester: InputRequester,
  request: InputRequest,
  key: string | undefined,
  accepts: (answer: JsonObject) => boolean | Promise<boolean>,
): Promise<JsonObject> {
  const { input, exchange } = requester
  try {
    // The capabilities of a client that cannot be reached may be unknown. They are not checked,
    // because `input.ask` throws an error that says why the client cannot be reached. A method that
    // is missing in the revision is reported in any case
    if (!input.refuses || isMethodMissing(request, exchange.revision)) {
      requireAskable(request, exchange)
    }
    return await input.ask({ request, key, accepts })
  } catch (error) {
    throw noteUnanswered(error)
  }
}

/** Whether the revision does not have the method of the input request. */
function isMethodMissing({ method }: InputRequest, revision: RevisionFacts): boolean {
  return method === 'elicitation/create' && !supports(revision, ELICITATION)
}

/**
 * Checks that the input request is valid, and that the client supports it.
 *
 * @throws {TypeError} If the value is not an input request, or a URL contains credentials.
 * @throws {SdkError} `CAPABILITY_MISSING` if the client did not declare a required capability.
 */
export function requireAskable(request: InputRequest, { client, revision }: Exchange): void {
  if (!INPUT_METHODS.includes(request.method)) {
    throw new TypeError(`"${request.method}" cannot be sent to a client`)
  }
  if (request.params?.mode === 'url') rejectCredentials(String(request.params.url))
  const requiredCapabilities = missingCapabilities(request, client.capabilities, revision)
  if (!requiredCapabilities) return
  const unsupportedBy = isMethodMissing(request, revision)
    ? `Revision ${revision.version}`
    : 'The client'
  throw new SdkError(
    'CAPABILITY_MISSING',
    `${unsupportedBy} does not support "${request.method}"`,
    {
      data: { requiredCapabilities },
    },
  )
}

/** Matches names of data that must neither pass through the client nor appear in a URL that the client sees. */
export const SECRET_NAME: RegExp =
  /^(?:password|passphrase|passcode|api[-_]?key|secret|credit[-_]?card|(?:access|refresh|id)[-_]?token)$/i

/** Rejects URLs with credentials: they would identify the user, or grant access to anyone. */
function rejectCredentials(url: string): void {
  const { username, password, searchParams } = new URL(url)
  if (username || password || [...searchParams.keys()].some((name) => SECRET_NAME.test(name)))
    throw new TypeError('A URL for the user cannot carry credentials: use createTickets')
}
