/**
 * A Durable Object that serves sessions with a handler of `createHandler`, and stores them in its SQLite database.
 * The object may be evicted from memory at any time. Its state is then restored from the store.
 *
 * @see https://developers.cloudflare.com/durable-objects/
 */
import { DurableObject } from 'cloudflare:workers'
import {
  createHandler,
  resumableCalls,
  statefulSessions,
  type Handler,
  type Authenticator,
  type HandlerOptions,
  type Server,
  type SessionRecord,
} from '../../src/presets/server.ts'
import { requireSql } from './bindings.ts'
import { readIdentity } from './caller.ts'
import { streamUnavailable, type Hub } from './hub.ts'
import { watchedElicitation } from './hub-log.ts'
import { HubSyncQueue } from './hub-sync-queue.ts'
import { readSessionStream, sessionStreamHeaders } from './subscription-filter.ts'
import { handlerOptions, type WorkerOptions } from './options.ts'
import { sealingSecrets } from './secrets.ts'
import { createSessionId } from './session-id.ts'
import { SessionLifetime } from './session-lifetime.ts'
import { ObjectSessionStore } from './session-store.ts'
import { bindStorage } from './storage-binding.ts'
import { refuse, SseSession } from './sse-session.ts'
import { socketSink } from './stream-socket.ts'

/** A class of Durable Objects, which the Worker exports. */
export type DurableObjectClass = new (ctx: DurableObjectState, env: Cloudflare.Env) => DurableObject

/** Whether the URL of a request has the given path. */
function isAt({ url }: Request, path: string | undefined): boolean {
  return path !== undefined && new URL(url).pathname === path
}

/** The subscriptions of a session at the hub. Changes that every session receives need no subscription. */
function hubSubscriptions({ subscriptions, elicitations = [] }: SessionRecord): string[] {
  return [...subscriptions, ...elicitations.map(watchedElicitation)].toSorted()
}

/**
 * Creates the authenticator of the object. The Worker has already authenticated the caller, so this
 * authenticator only authorizes messages.
 */
function authorizingOnly(auth: Authenticator): Authenticator {
  return {
    paths: [],
    credentialHeaders: [],
    handleMetadata: () => undefined,
    authenticate: (_request, caller) => caller,
    authorize: (...args) => auth.authorize(...args),
  }
}

/** Creates the class of the objects that serve the sessions of a server. */
export function sessionObject(
  server: Server,
  options: WorkerOptions,
  hub: Hub,
): DurableObjectClass {
  // The Worker has checked the host. The object must not check it, because `#end` uses the made-up host `session`
  const { allowedHosts: _, sessionIdleMs: idleMs = 3_600_000, ssePath, auth, ...rest } = options
  const optionsOfHandler = handlerOptions(rest)

  return class McpSession extends DurableObject {
    readonly #store: ObjectSessionStore
    readonly #handle: Handler
    readonly #sse: SseSession
    /** Whether new sessions share this object. */
    #shared = false
    readonly #syncQueue: HubSyncQueue
    readonly #lifetime: SessionLifetime

    constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
      super(ctx, env)
      const storage = requireSql(ctx.storage, 'McpSession')
      this.#sse = new SseSession(ctx)
      this.#syncQueue = new HubSyncQueue(storage, hub, (id) => {
        const record = this.#store.load(id)
        // `listens` is `true` while a client listens, and `false` after the end of its session was postponed.
        // In both cases the hub must know the session. If no client has ever listened, `listens` is `undefined`
        return (
          record && { watches: hubSubscriptions(record), listens: record.listens !== undefined }
        )
      })
      this.#store = new ObjectSessionStore(storage, {
        createId: () => createSessionId(ctx.id, this.#shared),
        findSink: (session, stream) => {
          const socket = ctx.getWebSockets(`${session}/${stream}`).at(-1)
          return socket ? socketSink(socket) : this.#sse.sink
        },
        syncQueue: this.#syncQueue,
        onError: (error) => console.error(error),
      })
      this.#lifetime = new SessionLifetime({
        storage: ctx.storage,
        store: this.#store,
        hub,
        idleMs,
        isConnected: (id) => ctx.getWebSockets(id).length > 0 || this.#sse.sink !== undefined,
        end: (id) => this.#end(id),
      })
      const objectOptions: HandlerOptions = {
        ...optionsOfHandler,
        // The handler must not end idle sessions. The alarm ends them, after it has asked the hub whether
        // their clients still listen
        sessions: statefulSessions({ store: this.#store, calls: resumableCalls, idleMs: Infinity }),
        secrets: sealingSecrets(options),
        // The Worker has checked the origin, and has authenticated the caller. The object checks the
        // scopes, because they depend on the body
        allowedOrigins: '*',
        ...(auth && { auth: authorizingOnly(auth) }),
      }
      this.#handle = createHandler(server, objectOptions, {
        // The hub announces changes to sessions, so the handler must not
        changeSource: { subscribe: () => () => {} },
        onStandaloneStream: ({ sessionId: session, sendsEventId }) => {
          this.#syncQueue.noteListening(session)
          return new Response(null, {
            headers: sessionStreamHeaders({ session, primed: sendsEventId }),
          })
        },
        connectStream: ({ sessionId, streamId }) => {
          const { sink } = this.#sse
          if (sink) return { sink, response: new Response() }
          const { 0: client, 1: socket } = new WebSocketPair()
          ctx.acceptWebSocket(socket, [sessionId, `${sessionId}/${streamId}`])
          const response = new Response(null, { status: 101, webSocket: client })
          return { sink: socketSink(socket), response }
        },
        clientOmitsHeaders: (request) => isAt(request, ssePath),
      })
    }

    override async fetch(request: Request): Promise<Response> {
      hub.start()
      // A GET need not be recorded as a use: it opens a stream, and the hub knows which sessions have one
      const sessionId = request.headers.get('mcp-session-id')
      if (request.method !== 'GET' && sessionId !== null) this.#lifetime.touch(sessionId)
      const isSse = isAt(request, ssePath)
      const { principal, auth, shared = false } = readIdentity(request.headers)
      this.#shared ||= shared
      const serve = async (forwarded: Request): Promise<Response> => {
        bindStorage(forwarded, this.ctx.storage)
        const response = await this.#handle(forwarded, {
          request: forwarded,
          principal,
          auth,
          // The address is needed only to limit how many sessions a caller opens
          address:
            sessionId === null ? (request.headers.get('cf-connecting-ip') ?? undefined) : undefined,
          env: this.env,
          waitUntil: (work) => this.ctx.waitUntil(work),
        })
        // The response to a GET may describe a stream, which the Worker then opens at the hub
        const openedStream =
          forwarded.method === 'GET' ? readSessionStream(response.headers) : undefined
        if (openedStream && !(await this.#prepareStream(openedStream.session)))
          return streamUnavailable()
        // The header is read only if necessary, because reading headers is slow on workerd
        const openedId = sessionId === null || isSse ? response.headers.get('mcp-session-id') : null
        if (openedId === null || (await this.#lifetime.setAlarm())) return response
        // Without an alarm, the session would never end
        await this.#end(openedId)
        return refuse(503, 'Sessions cannot be stored at the moment', { 'retry-after': '60' })
      }
      return isSse ? this.#answerSse(request, principal, serve) : serve(request)
    }

    /**
     * Ensures that the hub knows the subscriptions of a session before the session has a stream.
     *
     * @returns Whether the hub knows the subscriptions.
     */
    async #prepareStream(id: string): Promise<boolean> {
      await this.#lifetime.noteListening(id)
      // The hub may have missed a sync that was due before this object came into memory
      return this.#syncQueue.resync(id)
    }

    async #answerSse(
      request: Request,
      principal: string | undefined,
      serve: (request: Request) => Promise<Response>,
    ): Promise<Response> {
      if (request.method === 'GET') return this.#sse.open(request, principal)
      if (request.method !== 'POST') return new Response(null, { status: 405 })
      const work = this.#sse.post(request, principal, this.#store.sessionUses()[0]?.id, serve)
      // The work continues even if the client no longer waits
      this.ctx.waitUntil(work)
      return work
    }

    /** Ends the idle sessions. */
    override async alarm(): Promise<void> {
      const nextCheck = await this.#lifetime.endIdle()
      try {
        this.#store.deleteEvents(Date.now() - idleMs)
      } catch (error) {
        // A later alarm deletes the events. The error is not thrown, because an alarm that fails too often
        // never fires again
        console.error(error)
      }
      await this.#syncQueue.retry()
      const next = Math.min(nextCheck, this.#syncQueue.retryAt)
      if (next < Infinity) await this.ctx.storage.setAlarm(next)
    }

    /** Does nothing, because clients send no messages over sockets. */
    override webSocketMessage(): void {}

    override async webSocketClose(socket: WebSocket): Promise<void> {
      socket.close()
      await this.#handleClosed(socket)
    }

    override async webSocketError(socket: WebSocket): Promise<void> {
      await this.#handleClosed(socket)
    }

    /** Whether a session with that id exists. Called by the hub. */
    keeps(session: string): boolean {
      return this.#store.load(session) !== undefined
    }

    /**
     * The secret of this deployment, which the first call generates. The Worker calls this method only on the
     * object with a fixed name.
     */
    async sealingSecret(): Promise<string> {
      const { storage } = this.ctx
      const existing = await storage.get<string>('mcp_secret')
      if (existing !== undefined) return existing
      const generated = crypto.randomUUID() + crypto.randomUUID()
      await storage.put('mcp_secret', generated)
      return generated
    }

    async #handleClosed(socket: WebSocket): Promise<void> {
      // A stream of HTTP+SSE cannot be resumed, so its session ends with the stream
      if (!this.#sse.owns(socket)) return
      for (const { id } of this.#store.sessionUses()) await this.#end(id)
    }

    /** Ends a session. Returns whether that succeeded. */
    async #end(id: string): Promise<boolean> {
      const headers = { 'mcp-session-id': id }
      const request = new Request('https://session/', { method: 'DELETE', headers })
      const { ok } = await this.#handle(request, { principal: this.#store.load(id)?.principal })
      this.#sse.close()
      return ok
    }
  }
}
