/**
 * Explains errors, and advises the user what to do.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#error-codes
 */
import {
  fetchFaultOf,
  isObject,
  SdkError,
  ProtocolError,
  type SdkErrorCode,
} from 'edgewise/browser'
import type { WireEntry } from './activity/wire.ts'
import { el } from './dom.ts'
import { jsonBlock } from './json.ts'

/** Shows the message, code and data of an error, with advice. */
export function explain(error: unknown): Node[] {
  const { data } = isObject(error) ? error : {}
  return [
    el('p', { class: 'text' }, summary(error)),
    ...adviceOn(error).map((each) => el('p', { class: 'note' }, each)),
    ...(data === undefined ? [] : [jsonBlock(data)]),
  ]
}

/** Describes an error in one line. */
export function summary(error: unknown): string {
  if (error instanceof ProtocolError) return `${error.message} (${error.code})`
  // The cause is shown below, as advice
  if (error instanceof SdkError) return error.message.replace(`: ${String(error.cause)}`, '')
  return error instanceof Error ? error.message : String(error)
}

/**
 * Returns advice on what to try next.
 *
 * @param lastAnswer The last response of the server.
 */
export function adviceOn(error: unknown, lastAnswer?: WireEntry): string[] {
  const fault = fetchFaultOf(error)
  if (fault) return fault.message.split('. ')
  const advice = error instanceof SdkError ? adviceByCode[error.code] : undefined
  if (advice) return [advice]
  return lastAnswer ? adviceOnAnswer(lastAnswer) : []
}

/** Describes a response that is not a message, for example by its page title, and the possible reason. */
function adviceOnAnswer({ title, http, body = '' }: WireEntry): string[] {
  if (title !== http[0]) return []
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const excerpt = /<title>([^<]+)/i.exec(text)?.[1] ?? text.replace(/<[^>]*>/g, '')
  const answer = `The server answered ${title}: ${excerpt.trim().slice(0, 200) || 'nothing'}`
  return title.startsWith('HTTP 5') ? [answer] : [answer, OTHER_PAGE]
}

const OTHER_PAGE = 'The address may be another page of that site: an endpoint often ends in /mcp.'
const adviceByCode: { readonly [Code in SdkErrorCode]?: string } = {
  UNAUTHORIZED: 'The server wants you to sign in: press “Connect”.',
  VERSION_MISMATCH: 'Choose “Auto”.',
}
