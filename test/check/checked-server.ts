/** A server that follows the rules of the check, and changes of it. */
import * as z from 'zod'
import { checkEndpoint } from '../../src/check/check-server.ts'
import type { Finding } from '../../src/check/finding.ts'
import type { RuleId } from '../../src/check/rules.ts'
import { isObject, type JsonObject } from '../../src/index.ts'
import { connect } from '../../src/presets/client.ts'
import {
  createHandler,
  createServer,
  statefulSessions,
  type Server,
} from '../../src/presets/server.ts'

export const LOCAL = 'http://127.0.0.1:8787/mcp'
export const PUBLIC = 'https://mcp.example/mcp'

export type Fetch = (request: Request) => Promise<Response>

export function goodServer(): Server {
  const server = createServer({ name: 'good', version: '1.0.0' })
  const definition = {
    description: 'Doubles a number',
    input: z.object({ n: z.number().describe('The number') }),
    annotations: { readOnlyHint: true },
  }
  server.tool('double', definition, ({ n }) => String(2 * n))
  return server
}

/** A handler as it is deployed at a URL: with sessions, and open to pages of any origin if it is public. */
export function handlerAt(url: string): Fetch {
  const handle = createHandler(goodServer(), {
    sessions: statefulSessions(),
    ...(url === PUBLIC && { allowedOrigins: '*' }),
  })
  return async (request) => handle(request)
}

export async function collect(findings: AsyncIterable<Finding>): Promise<Finding[]> {
  const collected: Finding[] = []
  for await (const finding of findings) collected.push(finding)
  return collected
}

export async function check(
  url: string,
  serve: Fetch,
  headers = new Headers(),
): Promise<Finding[]> {
  const fetch = (at: string | URL | Request, init?: RequestInit): Promise<Response> => {
    return serve(new Request(at, init))
  }
  const open = (revision?: '2026-07-28') => connect(url, { fetch, ...(revision && { revision }) })
  const options = { url, headers, fetch, timeoutMs: 5_000 }
  return collect(checkEndpoint(options, (revision) => open(revision as '2026-07-28')))
}

export const rulesOf = (findings: readonly Finding[]): RuleId[] => findings.map(({ rule }) => rule)

/** The body of a request; undefined if it is not a JSON object. */
export async function messageOf(request: Request): Promise<JsonObject | undefined> {
  try {
    const value: unknown = await request.clone().json()
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Answers some requests otherwise. */
export function otherwise(
  serve: Fetch,
  answer: (request: Request, message: JsonObject | undefined) => Response | undefined,
): Fetch {
  return async (request) => answer(request, await messageOf(request)) ?? serve(request)
}

export const result = (id: unknown, value: JsonObject, headers = {}): Response =>
  Response.json({ jsonrpc: '2.0', id, result: value }, { headers })
export const failure = (id: unknown, code: number, status = 200): Response =>
  Response.json({ jsonrpc: '2.0', id, error: { code, message: 'No' } }, { status })

/** A server that speaks only revisions with sessions. */
export const legacyOnly: Fetch = otherwise(handlerAt(LOCAL), (_request, message) => {
  return message?.method === 'server/discover' ? failure(message.id, -32601, 404) : undefined
})
