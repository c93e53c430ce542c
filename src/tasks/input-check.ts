/**
 * Checks whether a client's response matches the request for input that it answers.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
import type { InputRequest, JsonObject } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import { invalidParams, requireObject } from '../server/request/params.ts'
import { areRoots } from '../server/request/roots.ts'
import { isSamplingResult } from '../server/request/sampling.ts'
import type { InputOutcome, TaskRecord } from './record.ts'

const ACTIONS: readonly unknown[] = ['accept', 'decline', 'cancel']

/**
 * Returns the client's responses to pending input requests, by the keys of the requests. Ignores all other
 * responses.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` if a response does not match its input request.
 */
export function requireAnswers(
  params: JsonObject,
  { inputs }: TaskRecord,
): { [wireKey: string]: InputOutcome } {
  const responses = requireObject(params, 'inputResponses')
  const answers: { [wireKey: string]: InputOutcome } = Object.create(null)
  for (const [key, answer] of Object.entries(responses)) {
    const pending = Object.hasOwn(inputs, key) ? inputs[key] : undefined
    if (!pending) continue
    if (!isObject(answer) || !matchesRequest(pending.request, answer)) {
      throw invalidParams(`"${key}" is not a valid response to "${pending.request.method}"`)
    }
    answers[key] = { answer }
  }
  return answers
}

/** Whether a response has the format that its request requires. The content of a form is validated later. */
function matchesRequest({ method }: InputRequest, answer: JsonObject): boolean {
  if (method === 'roots/list') return areRoots(answer.roots)
  if (method === 'sampling/createMessage') return isSamplingResult(answer)
  const { action, content } = answer
  return ACTIONS.includes(action) && (content === undefined || isObject(content))
}
