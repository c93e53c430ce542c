/**
 * Checks how a server answers `ping`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/ping
 */
import type { Client } from '../client/client.ts'
import { findRevision } from '../protocol/revisions.ts'
import type { JsonObject } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import { describeResponse, send } from './client-request.ts'
import { finding, type Finding } from './finding.ts'

/** Checks the answer to a ping, in the revisions that have it. */
export async function* checkPing(client: Client, signal?: AbortSignal): AsyncGenerator<Finding> {
  if (findRevision(client.revision)?.era !== 'legacy') return
  const responseOrFailure = await send(client, 'ping', {}, signal)
  if (typeof responseOrFailure === 'string') yield finding('no-response', responseOrFailure)
  else yield* pingFindings(responseOrFailure, describeResponse(responseOrFailure))
}

/**
 * Yields a finding if a ping was not answered with an empty result.
 *
 * @param answer The JSON-RPC response, if there is one.
 * @param description The answer in words.
 */
export function* pingFindings(
  answer: JsonObject | undefined,
  description: string,
): Generator<Finding> {
  const result = answer?.result
  if (!isObject(result)) return yield finding('ping', `"ping" was answered with ${description}`)
  // Every result may have metadata
  const members = Object.keys(result).filter((name) => name !== '_meta')
  if (members.length === 0) return
  const message = `The result of "ping" has ${members.map((name) => JSON.stringify(name)).join(', ')}`
  // Clients ignore these members, so the finding is only a note
  yield finding('ping', message, undefined, 'note')
}
