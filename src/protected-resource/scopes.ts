/**
 * Checks whether a caller was granted the scopes that a message needs.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#scope-challenge-handling
 */
import {
  UNKNOWN_CLIENT,
  type Caller,
  type ClientFacts,
  type ScopedServer,
} from '../server/request/exchange.ts'
import { isObject, isRequestId } from '../protocol/validate.ts'
import { challenge } from './challenge.ts'
import { unionOfScopes, type Settings } from './options.ts'

/**
 * Checks that the caller has the scopes for a message, or for every message of a batch.
 *
 * @param frame The message or the batch, which is not validated yet; `undefined` if the request has no body.
 * @param additional Scopes that are needed in addition to the scopes of the message.
 * @throws {HttpError} 403 with a challenge that names all scopes to request: the missing scopes, and
 *   the scopes already granted, so that they are not lost.
 */
export function requirePermission(
  settings: Settings,
  frame: unknown,
  caller: Caller,
  server: ScopedServer,
  additional: readonly string[] = [],
): void {
  const { options, scopes } = settings
  const { auth } = caller
  const granted = auth?.scopes ?? []
  const isSatisfied =
    options.isScopeSatisfied ?? ((grantedScopes, scope) => grantedScopes.includes(scope))
  const neededScopes = unionOfScopes(scopes, [
    ...additional,
    ...scopesOfMessage(settings, frame, caller, server),
  ])
  if (neededScopes.every((scope) => isSatisfied(granted, scope))) return

  const missing = neededScopes.filter((scope) => !isSatisfied(granted, scope))
  const id = isObject(frame) && isRequestId(frame.id) ? frame.id : undefined
  throw challenge(
    settings,
    {
      status: 403,
      error: 'insufficient_scope',
      message: `The access token lacks the scope ${missing.join(' and ')}`,
      scheme: auth?.bound ? 'dpop' : 'bearer',
      id,
    },
    unionOfScopes(granted, neededScopes),
  )
}

/**
 * The tool that a call names, if the caller may see it. The client's info and capabilities are not known
 * yet, so a tool whose `visible` depends on them is always found, because it may turn out to be visible.
 */
function findTool(
  { tools }: ScopedServer,
  name: string,
  caller: Caller,
): ReturnType<typeof tools.find> {
  let readsClient = false
  const client = new Proxy<ClientFacts>(UNKNOWN_CLIENT, {
    get(facts, member) {
      readsClient = true
      return Reflect.get(facts, member) as unknown
    },
  })
  const visibleTool = tools.find(name, caller, client)
  if (visibleTool || !readsClient) return visibleTool
  const toolsByName = new Map(tools.entries())
  return toolsByName.get(name)
}

/** The scopes that a message, or all messages of a batch, need. */
function scopesOfMessage(
  settings: Settings,
  frame: unknown,
  caller: Caller,
  server: ScopedServer,
): readonly string[] {
  if (Array.isArray(frame)) {
    return frame.flatMap((message) => scopesOfMessage(settings, message, caller, server))
  }
  if (!isObject(frame) || typeof frame.method !== 'string') return []
  const { method } = frame
  const params = isObject(frame.params) ? frame.params : {}
  const tool =
    method === 'tools/call' && typeof params.name === 'string'
      ? findTool(server, params.name, caller)
      : undefined
  const optionScopes = settings.options.requiredScopes?.({ method, params }, caller)
  const extensionScopes = server.extensions?.scopesFor(method, params)
  return [...(tool?.scopes ?? []), ...(extensionScopes ?? []), ...(optionScopes ?? [])]
}
