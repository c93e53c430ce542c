/**
 * Sends a body that is not JSON. A careless server may crash on it, so this check comes last.
 *
 * @see https://www.jsonrpc.org/specification#error_object
 */
import { finding, type Finding } from './rules.ts'
import { Session } from './session.ts'
import {
  describeAnswer,
  errorCode,
  hasNoResponse,
  initializeRequest,
  type CheckedEndpoint,
} from './endpoint.ts'

const MALFORMED = '{"jsonrpc": "2.0", '

/** Checks the answer to a malformed body, and whether the server answers the next request. */
export async function* checkMalformed(endpoint: CheckedEndpoint): AsyncGenerator<Finding> {
  const body = initializeRequest('2025-11-25')
  const session = new Session(endpoint, await endpoint.send({ body, rule: 'malformed-body' }))
  await session.start()
  const answer = await session
    .sendWithoutRetry({ body: MALFORMED, rule: 'malformed-body' })
    .catch((error: unknown) => {
      if (hasNoResponse(error)) return { silence: error.message }
      throw error
    })
  const nextAnswer = await endpoint
    .send({ body, rule: 'malformed-body' })
    .catch((error: unknown) => {
      if (!hasNoResponse(error)) throw error
    })
  if (!nextAnswer) {
    return yield finding('malformed-body', 'The server stopped answering after a malformed body')
  }
  await endpoint.endSession(nextAnswer)
  await session.end()
  // A browser also reports a response without CORS headers as silence
  if ('silence' in answer) {
    if (!endpoint.isPage) yield finding('malformed-body', answer.silence)
  } else if (answer.status !== 400 || errorCode(answer) !== -32700) {
    const actual = describeAnswer(answer)
    yield finding('parse-error', `A body that is not JSON was answered with ${actual}`)
  }
}
