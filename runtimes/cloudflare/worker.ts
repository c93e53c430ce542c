/**
 * A server as a Worker: requests that stand for themselves are answered where they arrive, those of
 * a session by the object of the session.
 *
 * @see https://developers.cloudflare.com/workers/runtime-apis/handlers/fetch/
 */
import { env } from 'cloudflare:workers'
import { IttyRouter, type IRequestStrict } from 'itty-router'
import { METHOD_NOT_FOUND, ProtocolError } from '../../src/index.ts'
import {
  createHandler,
  sealedSessions,
  type Caller,
  type ChangeSource,
  type HandlerOptions,
  type Server,
  type SessionForwarder,
} from '../../src/server/index.ts'
import { requireCompatibility, requireNamespace, type SessionObject } from './bindings.ts'
import { withIdentity } from './caller.ts'
import { Hub, type WorkerNotifier } from './hub.ts'
import { hubObject } from './hub-object.ts'
import type { WorkerOptions } from './options.ts'
import { givenSecrets, sealingSecrets } from './secrets.ts'
import { objectOf } from './session-id.ts'
import { sessionObject, type ObjectClass } from './session-object.ts'
import { namingSession } from './sse-session.ts'
import { hostTasks } from './task-host.ts'
import { taskObject } from './task-object.ts'
import { eventStreamResponse } from './stream-socket.ts'

/** A Worker, to be the default export. */
export interface Worker<Env = unknown> {
  /**
   * Answers a request: the endpoint's by the server, others by the binding `ASSETS` if there is one,
   * else with 404. An application with routes of its own calls it for the rest.
   */
  fetch(request: Request, env: Env, ctx: ExecutionContext): Promise<Response>
  /** The classes that the Worker must export by these names. */
  readonly durableObjects: {
    readonly McpSession: ObjectClass
    readonly McpHub: ObjectClass
    /** For servers that serve tasks only. */
    readonly McpTask: ObjectClass
  }
  /**
   * Announces changes to every client in any isolate: from routes, cron and queue handlers, tools and
   * other objects. What `server.notify` announces while a request is answered goes the same way.
   */
  readonly notify: WorkerNotifier
}

/**
 * Serves a server by a Worker.
 *
 * @throws {Error} when the environment lacks a binding, or the compatibility date is too early.
 * @throws {TypeError} when the server was not made by `createServer`.
 */
export function createWorker<Env = unknown>(
  server: Server,
  options: WorkerOptions<Env> = {},
): Worker<Env> {
  const { path = '/mcp', identify, sessionBinding = 'MCP_SESSION' } = options
  requireCompatibility()
  const hub = new Hub(options)
  let sessions: HandlerOptions['sessions']
  if (options.stateless) {
    const secrets = givenSecrets(options)
    sessions = secrets !== undefined && sealedSessions({ secrets })
  } else {
    sessions = forwarder(requireNamespace(env, sessionBinding, 'McpSession'), options)
    requireNamespace(env, options.hubBinding ?? 'MCP_HUB', 'McpHub')
    hub.relay(server.notify)
  }

  const tasks = hostTasks(server, options)
  const secrets = sealingSecrets(options)
  const changes = options.stateless ? silence : hub.changes
  const handle = createHandler(server, { ...options, secrets, changes, sessions })
  const serve: Worker<Env>['fetch'] = async (request, env, ctx) => {
    hub.start()
    const waitUntil = (work: Promise<unknown>): void => ctx.waitUntil(work)
    if (!identify) return handle(request, { env, waitUntil })
    const identity = await identify(request, env)
    return identity instanceof Response
      ? identity
      : handle(request, { ...identity, env, waitUntil })
  }
  const router = IttyRouter<IRequestStrict, [Env, ExecutionContext], Response | undefined>()
  for (const each of [path, ...(options.protect?.paths ?? [])]) router.all(each, serve)
  if (options.ssePath !== undefined) {
    const namespace = requireNamespace(env, sessionBinding, 'McpSession')
    const newId = (): string => namespace.newUniqueId().toString()
    router.all(options.ssePath, (request, env, ctx) => {
      return serve(namingSession(request, newId), env, ctx)
    })
  }
  const route: Worker<Env>['fetch'] = async (request, env, ctx) =>
    (await router.fetch(request, env, ctx)) ??
    (await findAssets(env)?.fetch(request)) ??
    new Response('Not found', { status: 404 })

  return {
    // Nearly every request names the path as it is, and parsing URLs is slow.
    fetch: (request, env, ctx) => (pathOf(request.url) === path ? serve : route)(request, env, ctx),
    durableObjects: {
      McpSession: sessionObject(server, options, hub),
      McpHub: hubObject(options),
      McpTask: taskObject(tasks),
    },
    notify: hub.notify,
  }
}

/** Where changes are heard of without a hub: nowhere, which a listener learns at once. */
const silence: ChangeSource = {
  subscribe: () => {
    throw new ProtocolError(METHOD_NOT_FOUND, 'This server cannot tell of changes')
  },
}

/** The path of an absolute URL, as it is written. */
function pathOf(url: string): string {
  const from = url.indexOf('/', url.indexOf('//') + 2)
  const to = url.indexOf('?', from)
  return to === -1 ? url.slice(from) : url.slice(from, to)
}

/** Sends the requests of sessions to their objects. */
function forwarder<Env>(
  namespace: DurableObjectNamespace<SessionObject>,
  options: WorkerOptions<Env>,
): SessionForwarder {
  return (request, caller) => {
    const sessionId = request.headers.get('mcp-session-id')
    if (sessionId === null) return open(namespace, request, caller, options)
    const id = objectOf(namespace, sessionId)
    return id && ask(namespace.get(id), request, caller, options)
  }
}

/** Opens a session in a new object, or in that of its key. */
async function open<Env>(
  namespace: DurableObjectNamespace<SessionObject>,
  request: Request,
  caller: Caller,
  options: WorkerOptions<Env>,
): Promise<Response> {
  const key = await options.sessionKey?.(request, caller)
  if (key === undefined) {
    return ask(namespace.get(namespace.newUniqueId()), request, caller, options)
  }
  const object = namespace.get(namespace.idFromName(`key ${key}`))
  return ask(object, request, { ...caller, shared: true }, options)
}

async function ask<Env>(
  object: Fetcher,
  request: Request,
  caller: Caller & { shared?: boolean },
  { keepAliveMs, protect }: WorkerOptions<Env>,
): Promise<Response> {
  try {
    // Looking at headers is slow on workerd.
    const paged = request.headers.has('origin')
    const response = await object.fetch(
      withIdentity(request, caller, { paged, bare: protect !== undefined }),
    )
    if (response.webSocket) return eventStreamResponse(response.webSocket, keepAliveMs)
    // Pages need more headers, and only those of a copy can be changed.
    return paged ? new Response(response.body, response) : response
  } catch (error) {
    // The client learns nothing of it, and the log of the object may be far away.
    console.error(error)
    throw error
  }
}

function findAssets(env: unknown): Fetcher | undefined {
  return (env as { ASSETS?: Fetcher }).ASSETS
}
