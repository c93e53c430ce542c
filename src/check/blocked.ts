/**
 * Finds out which part of a request makes a browser block it: the server allows too few headers, or too few
 * methods, or its response does not allow the page.
 *
 * @see https://fetch.spec.whatwg.org/#cors-preflight-fetch
 */
import {
  HEADER_LAST_EVENT_ID,
  HEADER_METHOD,
  HEADER_NAME,
  HEADER_PROTOCOL_VERSION,
  HEADER_SESSION_ID,
} from '../protocol/headers.ts'
import type { JsonObject } from '../protocol/types.ts'

/** A request that changes nothing. Every server answers it, though perhaps with an error. */
export const PING: JsonObject = { jsonrpc: '2.0', id: 1, method: 'ping' }

/** The headers that MCP requests add and that CORS restricts, with values to test them with. */
const TESTED_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'application/json',
  [HEADER_PROTOCOL_VERSION]: '2025-11-25',
  [HEADER_SESSION_ID]: 'edgewise-check',
  [HEADER_LAST_EVENT_ID]: '0',
  [HEADER_METHOD]: 'ping',
  [HEADER_NAME]: 'ping',
}

/**
 * Sends one ping with each header of MCP. Returns the lower-case names of the headers that the browser blocks, or
 * `undefined` if it also blocks a ping without any of them.
 *
 * @param send Sends a ping with the given headers. Rejects with a `TypeError` if the browser blocks the ping.
 */
export async function blockedHeaders(
  send: (headers: Readonly<Record<string, string>>) => Promise<unknown>,
): Promise<string[] | undefined> {
  const isBlocked = (headers: Readonly<Record<string, string>>): Promise<boolean> =>
    send(headers).then(
      () => false,
      (error: unknown) => error instanceof TypeError,
    )
  if (await isBlocked({})) return undefined
  const blocked: string[] = []
  for (const [name, value] of Object.entries(TESTED_HEADERS)) {
    if (await isBlocked({ [name]: value })) blocked.push(name)
  }
  return blocked
}
