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
  type SessionRecord,
} from '../../src/server/index.ts'
import { requireSql } from './bindings.ts'
import { readIdentity } from './caller.ts'
import type { Hub } from './hub.ts'
import { watchedQuestion } from './hub-log.ts'
import { sessionHeaders } from './hub-wish.ts'
import type { WorkerOptions } from './options.ts'
import { sealingSecrets } from './secrets.ts'
import { mintSessionId } from './session-id.ts'
import { ObjectSessionStore } from './session-store.ts'
import { lendStorage } from './lent-storage.ts'
import { SseSession } from './sse-session.ts'
import { socketSink } from './stream-socket.ts'

/** A class of Durable Objects, for the Worker to export. */
export type ObjectClass = new (ctx: DurableObjectState, env: Cloudflare.Env) => DurableObject

/** Whether a request came to that path. */
function isAt({ url }: Request, path: string | undefined): boolean {
  return path !== undefined && new URL(url).pathname === path
}

/** What a session watches besides what every session hears of. */
function watchedBy({ subscriptions, elicitations = [] }: SessionRecord): string[] {
  return [...subscriptions, ...elicitations.map(watchedQuestion)]
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
    /** When the use of each session was noted. */
    readonly #touchedAt = new Map<string, number>()
    /** Whether new sessions share this object. */
    #shared = false
    /** The sessions of which the hub may know something else than is so. */
    readonly #stale = new Set<string>()
    /** What the hub was told that sessions watch. */
    readonly #watched = new Map<string, string>()
    #telling: Promise<void> = Promise.resolve()

    constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
      super(ctx, env)
      const storage = requireSql(ctx.storage, 'McpSession')
      this.#sse = new SseSession(ctx)
      const mintId = (): string => {
        void this.#setAlarm()
        const id = mintSessionId(ctx.id, this.#shared)
        this.#touchedAt.set(id, Date.now())
        this.#watched.set(id, '[]')
        return id
      }
      this.#store = new ObjectSessionStore(storage, {
        mintId,
        findSink: (session, stream) => {
          const socket = ctx.getWebSockets(`${session}/${stream}`).at(-1)
          return socket ? socketSink(socket) : this.#sse.sink
        },
        changed: (id) => {
          this.#stale.add(id)
          // A question may end before the next request, which would tell the hub of it.
          void this.#tellHub()
        },
        ended: (id) => void this.#stale.add(id),
        onError: (error) => console.error(error),
      })
      this.#handle = createHandler(server, {
        ...options,
        // The alarm ends sessions, as only the hub knows who still listens.
        sessions: keptSessions({ store: this.#store, calls: keepCalls, idleMs: Infinity }),
        secrets: sealingSecrets(options),
        // The hub tells clients itself.
        changes: { subscribe: () => () => {} },
        listen: (stream) => {
          const record = this.#store.load(stream.session)
          // Whatever the hub was told before this object came into memory, it is told again.
          if (record && watchedBy(record).length > 0) this.#stale.add(stream.session)
          // The alarm notes it in the store only, and the handler does not look there again.
          if (record?.listens === false) {
            this.#store.save(stream.session, { ...record, listens: true })
          }
          return new Response(null, { headers: sessionHeaders(stream) })
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
      // Who listens is known to the hub, and need not be noted.
      if (request.method !== 'GET') this.#touch(request.headers.get('mcp-session-id'))
      const { principal, auth, shared = false } = readIdentity(request.headers)
      this.#shared ||= shared
      const toldBefore = this.#telling
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
      if (this.#stale.size > 0 || this.#telling !== toldBefore) await this.#tellHub()
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

    /** Ends the sessions that nobody used for too long. */
    override async alarm(): Promise<void> {
      let next = Infinity
      for (const { id, usedAt } of this.#store.uses()) {
        const endsAt = usedAt + idleMs + touchMs
        if (endsAt > Date.now()) next = Math.min(next, endsAt)
        else if ((await this.#listens(id)) || this.#spare(id)) {
          next = Math.min(next, Date.now() + idleMs + touchMs)
        } else await this.#end(id)
      }
      this.#store.forgetEvents(Date.now() - idleMs)
      if (next < Infinity) await this.ctx.storage.setAlarm(next)
      await this.#tellHub()
    }

    /** Sockets carry nothing but events to the client. */
    override webSocketMessage(): void {}

    override async webSocketClose(socket: WebSocket): Promise<void> {
      socket.close()
      await this.#closed(socket)
    }

    override async webSocketError(socket: WebSocket): Promise<void> {
      await this.#closed(socket)
    }

    /** Whether there is a session of that id. */
    keeps(session: string): boolean {
      return this.#store.load(session) !== undefined
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

    async #closed(socket: WebSocket): Promise<void> {
      // Nobody can come back to a stream of HTTP+SSE.
      if (!this.#sse.owns(socket)) return
      for (const { id } of this.#store.uses()) await this.#end(id)
      await this.#tellHub()
    }

    /** Lets the hub know what changed of the sessions that listen, one thing after the other. */
    #tellHub(): Promise<void> {
      if (this.#stale.size === 0) return this.#telling
      const tell = async (): Promise<void> => {
        for (const id of [...this.#stale]) await this.#tellOf(id)
      }
      return (this.#telling = this.#telling.then(tell, tell))
    }

    async #tellOf(id: string): Promise<void> {
      this.#stale.delete(id)
      const record = this.#store.load(id)
      if (record && record.listens === undefined) return
      const watched = record && watchedBy(record)
      const told = JSON.stringify(watched?.toSorted())
      if (watched && told === this.#watched.get(id)) return
      this.#watched.delete(id)
      try {
        if (!watched) return await hub.leave(id)
        await hub.watch(id, watched)
        this.#watched.set(id, told)
      } catch (error) {
        // The request was answered; the next one tries again.
        this.#stale.add(id)
        console.error(error)
      }
    }

    /** Whether a client is connected to a stream of a session. */
    async #listens(id: string): Promise<boolean> {
      if (this.ctx.getWebSockets(id).length > 0 || this.#sse.sink) return true
      if (this.#store.load(id)?.listens === undefined) return false
      try {
        return await hub.listens(id)
      } catch (error) {
        // Rather too late than while somebody listens.
        console.error(error)
        return true
      }
    }

    /** Gives a client that listened until lately the time to come back; once. */
    #spare(id: string): boolean {
      const record = this.#store.load(id)
      if (!record?.listens) return false
      this.#store.save(id, { ...record, listens: false })
      // Alarms may ring twice, and for others that share the object.
      this.#store.touch(id)
      return true
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
