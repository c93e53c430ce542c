/**
 * A server as a function from request to response: the switch over HTTP methods, and the only place
 * where an error becomes a response.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import { createSealer } from '../../patterns/sealed-state.ts'
import { INTERNAL_ERROR, INVALID_REQUEST, ProtocolError } from '../../protocol/errors.ts'
import type { Caller } from '../../server/exchange.ts'
import { definitionOf, type Server, type ServerDefinition } from '../../server/server.ts'
import { announceTo } from '../../server/announce.ts'
import type { SessionRecord } from '../../session/session.ts'
import { Sessions } from '../../session/sessions.ts'
import { createMemorySessionStore } from '../../session/store.ts'
import { checkOrigin, readVersion } from './checks.ts'
import { allowOrigin, preflightResponse } from './cors.ts'
import { forward, isForwarded } from './forward.ts'
import { get } from './get.ts'
import type { Host } from './host.ts'
import type { HandlerOptions, SessionForwarder } from './options.ts'
import { post } from './post.ts'
import { Refusal, refusalResponse } from './refusal.ts'
import { findMembership } from './session-post.ts'

/** Serves MCP over HTTP. Route every method of one path to it. */
export interface Handler {
  /** Answers a request; never rejects. */
  (request: Request, caller?: Caller): Promise<Response>
  /** Ends every listener and session gracefully. */
  close(): Promise<void>
}

/**
 * Makes a handler of Streamable HTTP for every revision that the server speaks.
 *
 * @throws {TypeError} when the server was not made by `createServer`.
 */
export function createHandler(server: Server, options: HandlerOptions = {}): Handler {
  const definition = definitionOf(server)
  const { stateTtlMs = 900_000, maxStateBytes = 65_536 } = options
  const ending = new AbortController()
  const host: Host = {
    server: definition,
    options,
    sessions: makeSessions(definition, options),
    forward: findForwarder(definition, options),
    rounds: { sealer: createSealer(options.secrets), stateTtlMs, maxStateBytes },
    ending: ending.signal,
  }
  const unsubscribe = (options.changes ?? definition.notify).subscribe((change) => {
    host.sessions?.each(({ session, streams }) => {
      announceTo(session, change, (message) => streams.announce(message))
    })
  })
  const handle = (request: Request, caller: Caller = {}): Promise<Response> =>
    answer(host, request, { request, ...caller })
  const close = async (): Promise<void> => {
    ;(await unsubscribe)()
    ending.abort()
    await host.sessions?.close()
  }
  return Object.assign(handle, { close })
}

function makeSessions(
  { revisions, observe }: ServerDefinition,
  { sessions, sessionLimits, calls }: HandlerOptions,
): Sessions | undefined {
  if (sessions === false || typeof sessions === 'function') return undefined
  if (!revisions.some(({ era }) => era === 'legacy')) return undefined
  const store = sessions ?? createMemorySessionStore()
  const changed = (change: 'opened' | 'ended', { revision, principal }: SessionRecord): void =>
    observe?.({ type: 'session', change, revision, principal })
  return new Sessions(store, sessionLimits, changed, calls?.restore)
}

function findForwarder(
  { revisions }: ServerDefinition,
  { sessions }: HandlerOptions,
): SessionForwarder | undefined {
  if (typeof sessions !== 'function') return undefined
  return revisions.some(({ era }) => era === 'legacy') ? sessions : undefined
}

async function answer(host: Host, request: Request, caller: Caller): Promise<Response> {
  const origin = request.headers.get('origin')
  try {
    checkOrigin(request, host.options)
    return allowOrigin(await route(host, request, caller), origin)
  } catch (error) {
    if (error instanceof Refusal) {
      const {
        status,
        error: { code, message },
      } = error
      host.server.observe?.({ type: 'refusal', status, code, message, origin })
      const response = refusalResponse(error)
      return error.status === 403 ? response : allowOrigin(response, origin)
    }
    host.server.report(error)
    const internal = new ProtocolError(INTERNAL_ERROR, 'Internal error')
    return allowOrigin(refusalResponse(new Refusal(500, internal)), origin)
  }
}

async function route(host: Host, request: Request, caller: Caller): Promise<Response> {
  const hasSessions = host.sessions !== undefined || host.forward !== undefined
  switch (request.method) {
    case 'POST':
      return post(host, request, caller)
    case 'OPTIONS':
      return preflightResponse(request)
    case 'GET':
      if (hasSessions && !host.options.jsonOnly) return get(host, request, caller)
      break
    case 'DELETE':
      if (hasSessions) return endSession(host, request, caller)
  }
  const allow = hasSessions ? 'GET, POST, DELETE, OPTIONS' : 'POST, OPTIONS'
  const error = new ProtocolError(INVALID_REQUEST, `"${request.method}" is not allowed here`)
  throw new Refusal(405, error, { headers: { allow } })
}

async function endSession(host: Host, request: Request, caller: Caller): Promise<Response> {
  if (isForwarded(host, request)) return forward(host, request, caller)
  const version = readVersion(request.headers)
  const { live } = await findMembership({ host, request, version, caller })
  if (live) await host.sessions?.end(live)
  return new Response(null, { status: 200 })
}
