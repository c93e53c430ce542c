/**
 * A Durable Object that serves one session: the same handler as everywhere, over a store in the
 * object's SQLite. What is in memory may go at any time; what was kept comes back.
 *
 * @see https://developers.cloudflare.com/durable-objects/
 */
import { DurableObject } from 'cloudflare:workers'
import {
  createHandler,
  keepCalls,
  keptSessions,
  type Handler,
  type Server,
  type ServerChange,
} from '../../src/server/index.ts'
import { requireSql } from './bindings.ts'
import { readIdentity } from './caller.ts'
import type { Hub } from './hub.ts'
import type { WorkerOptions } from './options.ts'
import { sealingSecrets } from './secrets.ts'
import { mintSessionId } from './session-id.ts'
import { ObjectSessionStore } from './session-store.ts'
import { lendStorage } from './storage.ts'
import { SseSession } from './sse-session.ts'
import { socketSink } from './stream-socket.ts'

/** A class of Durable Objects, for the Worker to export. */
export type ObjectClass = new (ctx: DurableObjectState, env: Cloudflare.Env) => DurableObject

/** Whether a request came to that path. */
function isAt({ url }: Request, path: string | undefined): boolean {
  return path !== undefined && new URL(url).pathname === path
}

/** Makes the class of the objects that serve the sessions of a server. */
export function sessionObject<Env>(
  server: Server,
  options: WorkerOptions<Env>,
  hub: Hub,
): ObjectClass {
  const { sessionIdleMs: idleMs = 3_600_000, ssePath, protect } = options
  // Uses are noted this often, so that most requests write nothing.
  const touchMs = Math.min(idleMs / 10, 60_000)

  return class McpSession extends DurableObject {
    readonly #store: ObjectSessionStore
    readonly #handle: Handler
    readonly #sse: SseSession
    #announce: ((change: ServerChange) => void) | undefined
    /** When the use of each session was noted. */
    readonly #touchedAt = new Map<string, number>()
    /** Whether new sessions share this object. */
    #shared = false
    /** Whether what sessions listen to may differ from what the hub knows. */
    #stale = false
    /** What the hub knows of this object: nothing, or not known here when it is null. */
    #joined: string | null | undefined

    constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
      super(ctx, env)
      const storage = requireSql(ctx.storage, 'McpSession')
      this.#sse = new SseSession(ctx)
      const mintId = (): string => {
        void this.#setAlarm()
        const id = mintSessionId(ctx.id, this.#shared)
        this.#touchedAt.set(id, Date.now())
        return id
      }
      this.#store = new ObjectSessionStore(storage, {
        mintId,
        findSink: (session, stream) => {
          const socket = ctx.getWebSockets(`${session}/${stream}`).at(-1)
          return socket ? socketSink(socket) : this.#sse.sink
        },
        changed: () => void (this.#stale = true),
        onError: (error) => console.error(error),
      })
      this.#joined = this.#store.uses().length > 0 ? null : undefined
      this.#handle = createHandler(server, {
        ...options,
        sessions: keptSessions({ store: this.#store, calls: keepCalls, idleMs }),
        secrets: sealingSecrets(options),
        changes: {
          subscribe: (listener) => {
            this.#announce = listener
            return () => {}
          },
        },
        carry: ({ session, stream }) => {
          const { sink } = this.#sse
          if (sink) return { sink, response: new Response() }
          const { 0: client, 1: socket } = new WebSocketPair()
          ctx.acceptWebSocket(socket, [session, `${session}/${stream}`])
          const response = new Response(null, { status: 101, webSocket: client })
          return { sink: socketSink(socket), response }
        },
        // The Worker checked origin, host and who calls; what a message needs shows only here.
        allowedOrigins: '*',
        ...(protect && { protect: { ...protect, admit: (_request, caller) => caller } }),
      })
    }

    override async fetch(request: Request): Promise<Response> {
      hub.start()
      this.#touch(request.headers.get('mcp-session-id'))
      const { principal, auth, shared = false } = readIdentity(request.headers)
      this.#shared ||= shared
      const answer = (asked: Request): Promise<Response> => {
        lendStorage(asked, this.ctx.storage)
        return this.#handle(asked, {
          principal,
          auth,
          env: this.env,
          waitUntil: (work) => this.ctx.waitUntil(work),
        })
      }
      const response = isAt(request, ssePath)
        ? await this.#answerSse(request, principal, answer)
        : await answer(request)
      // Before the client learns that it is subscribed.
      if (this.#stale) await this.#joinHub()
      return response
    }

    async #answerSse(
      request: Request,
      principal: string | undefined,
      answer: (request: Request) => Promise<Response>,
    ): Promise<Response> {
      if (request.method === 'GET') return this.#sse.open(request, principal)
      if (request.method !== 'POST') return new Response(null, { status: 405 })
      const work = this.#sse.post(request, principal, this.#store.uses()[0]?.id, answer)
      // It goes on although the client no longer waits for this.
      this.ctx.waitUntil(work)
      return work
    }

    /** Tells the sessions of a change; whether there are any. */
    announce(change: ServerChange): boolean {
      this.#announce?.(change)
      return this.#store.watched() !== undefined
    }

    /** Ends the sessions that nobody used for too long. */
    override async alarm(): Promise<void> {
      let next = Infinity
      for (const { id, usedAt } of this.#store.uses()) {
        const listens = this.ctx.getWebSockets(id).length > 0 || this.#sse.sink !== undefined
        const endsAt = (listens ? Date.now() : usedAt) + idleMs + touchMs
        if (endsAt <= Date.now()) await this.#end(id)
        else next = Math.min(next, endsAt)
      }
      this.#store.forgetEvents(Date.now() - idleMs)
      if (next < Infinity) await this.ctx.storage.setAlarm(next)
      if (this.#stale) await this.#joinHub()
    }

    /** Sockets carry nothing but events to the client. */
    override webSocketMessage(): void {}

    override async webSocketClose(socket: WebSocket): Promise<void> {
      socket.close()
      // Nobody can come back to a stream of HTTP+SSE.
      if (!this.#sse.owns(socket)) return
      for (const { id } of this.#store.uses()) await this.#end(id)
      if (this.#stale) await this.#joinHub()
    }

    /** The secret of this deployment, minted by the first call; asked of one object only. */
    async sealingSecret(): Promise<string> {
      const { storage } = this.ctx
      const known = await storage.get<string>('mcp_secret')
      if (known !== undefined) return known
      const minted = crypto.randomUUID() + crypto.randomUUID()
      await storage.put('mcp_secret', minted)
      return minted
    }

    /** Lets the hub know what sessions listen to. */
    async #joinHub(): Promise<void> {
      this.#stale = false
      const object = this.ctx.id.toString()
      const watched = this.#store.watched()
      const known = watched && JSON.stringify(watched.toSorted())
      if (known === this.#joined) return
      this.#joined = known
      try {
        await (watched ? hub.join(object, watched) : hub.leave(object))
      } catch (error) {
        // The request was answered; the next one tries again.
        this.#joined = null
        this.#stale = true
        console.error(error)
      }
    }

    /** Sees to it that the alarm rings; it then rings as long as there are sessions. */
    async #setAlarm(): Promise<void> {
      const { storage } = this.ctx
      if ((await storage.getAlarm()) !== null) return
      await storage.setAlarm(Date.now() + idleMs + touchMs)
    }

    #touch(id: string | null): void {
      if (id === null || Date.now() - (this.#touchedAt.get(id) ?? 0) < touchMs) return
      if (this.#store.touch(id)) this.#touchedAt.set(id, Date.now())
    }

    async #end(id: string): Promise<void> {
      this.#touchedAt.delete(id)
      const headers = { 'mcp-session-id': id }
      const request = new Request('https://session/', { method: 'DELETE', headers })
      await this.#handle(request, { principal: this.#store.load(id)?.principal })
      this.#sse.close()
    }
  }
}
