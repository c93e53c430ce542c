/**
 * Sends a body that is not JSON. A careless server may crash when it receives this body, so this check comes last.
 *
 * @see https://www.jsonrpc.org/specification#error_object
 */
import { finding, type Finding } from './finding.ts'
import { Session } from './session.ts'
import {
  describeAnswer,
  errorCode,
  hasNoResponse,
  initializeRequest,
  type CheckedEndpoint,
} from './endpoint.ts'

const MALFORMED = '{"jsonrpc": "2.0", '
/** A line of a stack trace of JavaScript or Python. */
const STACK_TRACE = /\bat .{1,200}:\d+:\d+|Traceback \(most recent call last\)/

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
  // If the check runs in a page, a response without CORS headers looks like silence
  if ('silence' in answer) {
    if (!endpoint.runsInPage) yield finding('malformed-body', answer.silence)
  } else if (answer.status !== 400 || errorCode(answer) !== -32700) {
    const actual = STACK_TRACE.test(answer.text)
      ? `${answer.status} and a stack trace, which reveals paths of the server`
      : describeAnswer(answer)
    // MCP does not require a JSON-RPC error in the response, so without it, a 4xx is only a note
    const isRefused = answer.status >= 400 && answer.status < 500
    const message = `A body that is not JSON was answered with ${actual}`
    yield finding('parse-error', message, undefined, isRefused ? 'note' : 'warning')
  }
}
