/**
 * Serves a server as a Worker. Stateless requests are handled in the isolate where they arrive. Requests of
 * a session are handled by the object of the session.
 *
 * @see https://developers.cloudflare.com/workers/runtime-apis/handlers/fetch/
 */
import { env } from 'cloudflare:workers'
import { IttyRouter, type IRequestStrict } from 'itty-router'
import { definitionOf } from '#internal/connection'
import { type ChangeSource, createGuard, isAtPath, routeOf } from '#internal/http'
import { ErrorCode, ProtocolError } from '../../src/index.ts'
import {
  createHandler,
  type Caller,
  sealedSessions,
  type HandlerOptions,
  type Server,
} from '../../src/presets/server.ts'
import { requireCompatibility, requireNamespace } from './bindings.ts'
import { entrypointClass, type EntrypointClass } from './entrypoint.ts'
import { forwardedSessions } from './forwarded-sessions.ts'
import { Hub, type WorkerNotifier } from './hub.ts'
import { hubObject } from './hub-object.ts'
import { checkOptions, handlerOptions, type WorkerOptions } from './options.ts'
import { configuredSecrets, sealingSecrets } from './secrets.ts'
import { sessionObject, type DurableObjectClass } from './session-object.ts'
import { withSseSessionId } from './sse-session.ts'
import { hostTasks } from './task-host.ts'
import { taskObject } from './task-object.ts'

/** A Worker, for the default export. */
export interface Worker<Env = unknown> {
  /**
   * Responds to a request. The server handles requests for the endpoint. All other requests are passed to
   * the binding `ASSETS` if it exists. Otherwise the response is 404. If your application has its own routes,
   * call this method from them.
   */
  fetch(request: Request, env: Env, ctx: ExecutionContext): Promise<Response>
  /** The classes that the Worker must export by these names. */
  readonly durableObjects: {
    readonly McpSession: DurableObjectClass
    readonly McpHub: DurableObjectClass
    /** Needed only by servers with tasks. */
    readonly McpTask: DurableObjectClass
  }
  /**
   * Announces changes to every client, from any isolate: from routes, cron and queue handlers, tools and
   * other objects. While a request is being handled, `server.notify` has the same effect.
   */
  readonly notify: WorkerNotifier
  /**
   * The class through which other Workers call the server over a service binding, without HTTP.
   * Export it under a separate name, and use this name as the entrypoint of the bindings. The class handles no
   * HTTP requests, so only Workers with such a binding can reach it.
   *
   * @example
   * ```ts
   * import { createWorker } from 'edgewise/cloudflare'
   * import { createServer } from 'edgewise/server'
   *
   * const worker = createWorker(createServer({ name: 'travel', version: '1.0.0' }))
   * export const Travel = worker.entrypoint
   * export default worker
   * ```
   */
  readonly entrypoint: EntrypointClass
}

/**
 * Creates a Worker that serves a server, with sessions in Durable Objects or, with the option `stateless`,
 * without sessions.
 *
 * @example
 * ```ts
 * import { createWorker } from 'edgewise/cloudflare'
 * import { createServer } from 'edgewise/server'
 *
 * const server = createServer({ name: 'travel', version: '1.0.0' })
 * server.tool('greet', {}, () => 'Hello')
 *
 * const worker = createWorker(server)
 * export const { McpSession, McpHub } = worker.durableObjects
 * export default worker
 * ```
 *
 * @throws {Error} If the environment lacks a binding, or the compatibility date is too early.
 * @throws {SdkError} `INVALID_USE` if a secret is too short, or a numeric option is invalid.
 * @throws {TypeError} If the server was not created by `createServer` of `edgewise/server`, or an
 *   option is unknown.
 * @see https://developers.cloudflare.com/workers/runtime-apis/handlers/fetch/
 */
export function createWorker<Env = unknown>(
  server: Server,
  options: WorkerOptions = {},
): Worker<Env> {
  const { path = '/mcp', card, sessionBinding = 'MCP_SESSION' } = options
  requireCompatibility()
  checkOptions(options)
  if (!server.notify)
    throw new TypeError('The server must be made by createServer of edgewise/server')
  const hub = new Hub(options)
  let sessions: HandlerOptions['sessions']
  if (options.stateless) {
    const secrets = configuredSecrets(options)
    sessions = secrets === undefined ? false : sealedSessions({ secrets })
  } else {
    const namespace = requireNamespace(env, sessionBinding, 'McpSession')
    sessions = forwardedSessions(namespace, hub, options)
    requireNamespace(env, options.hubBinding ?? 'MCP_HUB', 'McpHub')
    hub.relay(server.notify)
  }

  const tasks = hostTasks(server, options)
  const secrets = sealingSecrets(options)
  const changeSource = options.stateless ? noChanges : hub.changes
  const handle = createHandler(
    server,
    { ...handlerOptions(options), secrets, sessions },
    { changeSource },
  )
  const definition = definitionOf(server)
  const entrypoint = entrypointClass(definition, {
    caller: options.entrypoint?.caller,
    maxOpenCalls: options.entrypoint?.maxOpenCalls ?? 1000,
    maxLength: options.maxBodyBytes ?? 4 * 1024 * 1024,
    onOpen: () => hub.start(),
    connection: {
      changeSource,
      authorizer: options.auth,
      inputTimeoutMs: options.inputTimeoutMs,
      askMode: definition.input.configure({ ...options, secrets }),
    },
  })
  // Checks origin and host for the responses that the handler does not create
  const guard = createGuard(server, options)
  const startHub = (_request: Request, _caller: Caller): void => hub.start()
  const router = IttyRouter<IRequestStrict, [Caller], Response>()
  if (card) for (const cardPath of card.paths) router.all(routeOf(cardPath), card)
  for (const handlerPath of [path, ...(options.auth?.paths ?? [])]) {
    router.all(routeOf(handlerPath), startHub, handle)
  }
  if (options.ssePath !== undefined) {
    const namespace = requireNamespace(env, sessionBinding, 'McpSession')
    const newId = (): string => namespace.newUniqueId().toString()
    router.all(routeOf(options.ssePath), startHub, (request, caller) => {
      const requestWithId = withSseSessionId(request, newId)
      return handle(requestWithId, { ...caller, request: requestWithId })
    })
  }
  router.all('*', (request, caller) => {
    return findAssets(caller.env)?.fetch(request) ?? guard(request, notFound)
  })

  return {
    fetch(request, bindings, ctx) {
      const caller: Caller = { request, env: bindings, waitUntil: (work) => ctx.waitUntil(work) }
      if (!isAtPath(request, path)) return router.fetch(request, caller)
      // Most requests are for the endpoint, and skip the router, which is slower
      hub.start()
      return handle(request, caller)
    },
    durableObjects: {
      McpSession: sessionObject(server, options, hub),
      McpHub: hubObject(options),
      McpTask: taskObject(tasks),
    },
    notify: hub.notify,
    entrypoint,
  }
}

/** The source of changes of a stateless Worker, which has no hub. It rejects every subscription of a client. */
const noChanges: ChangeSource = {
  subscribe: (_listener, { filter } = {}) => {
    // A subscription without a filter is one of a session, and must not fail
    if (!filter) return () => {}
    throw new ProtocolError(ErrorCode.METHOD_NOT_FOUND, 'This server sends no change notifications')
  },
}

/** The response for an unknown path. */
function notFound(): Response {
  return new Response('Not found', { status: 404 })
}

/** The binding that serves static files, if the Worker has one. */
function findAssets(env: unknown): Fetcher | undefined {
  return (env as { ASSETS?: Fetcher }).ASSETS
}
