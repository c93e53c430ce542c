/**
 * A request as programs send it, and the server that it is for.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#requests
 */
import type { JsonObject, Revision } from 'edgewise/browser'
import { variableOf } from '../secrets.ts'

/** A request of a tool, a prompt or a resource. */
export type Operation =
  | {
      method: 'tools/call'
      name: string
      arguments: JsonObject
      /** The input schema, by which headers repeat arguments. */
      inputSchema?: JsonObject
    }
  | { method: 'prompts/get'; name: string; arguments: JsonObject }
  | { method: 'resources/read'; uri: string }

/** How a program connects to a server. It contains no secrets: variables take their places. */
export interface ServerAddress {
  url: string
  /** The name of the server in configurations. */
  name: string
  /** The revision in use. */
  revision: Revision
  /** Whether the user has chosen the revision. */
  isPinned: boolean
  /** The names of the headers that the user has set. */
  headerNames: readonly string[]
  /** How requests are authorized: by a token that the user has set, by a sign-in, or not at all. */
  access: 'none' | 'token' | 'sign-in'
}

/** The params of a request. */
export function paramsOf(operation: Operation): JsonObject {
  if (operation.method === 'resources/read') return { uri: operation.uri }
  return { name: operation.name, arguments: operation.arguments }
}

/** The headers of requests, whose values refer to variables: `${X_API_KEY}`. */
export function variableHeaders({ headerNames, access }: ServerAddress): Record<string, string> {
  const headers = headerNames.map((name) => [name, `\${${variableOf(name)}}`])
  if (access !== 'none') headers.push(['Authorization', 'Bearer ${TOKEN}'])
  return Object.fromEntries(headers)
}
