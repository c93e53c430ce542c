/**
 * A Durable Object that tells of changes, in any isolate: to listeners of 2026-07-28, and to the
 * sessions of its shard, on the streams that belong to none of their requests. All of them are
 * sockets that outlive it in memory, so nobody else is woken by a change.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
import { DurableObject } from 'cloudflare:workers'
import type { ServerChange } from '#internal/http'
import { requireNamespace, requireSql } from './bindings.ts'
import { HubLog } from './hub-log.ts'
import { ConnectionQuota, readAccount } from './connection-quota.ts'
import { HubSessions } from './hub-sessions.ts'
import { readSessionStream, readFilter, mayPass } from './subscription-filter.ts'
import type { WorkerOptions } from './options.ts'
import { withObjectTimeout } from './object-timeout.ts'
import { objectOf } from './session-id.ts'
import type { ObjectClass } from './session-object.ts'

/** What marks the sockets of listeners of 2026-07-28. */
const LISTENER = 'listener'
/** How often the hub looks for sessions that ended without its knowing, in milliseconds. */
const SWEEP_MS = 86_400_000
const SWEEP_ON_MS = 600_000
/** For how long a session is not asked whether it is still there. */
const STALE_MS = 604_800_000
/** How many sessions are asked at a time; the platform bounds it. */
const MAX_ASKED = 500

/** Makes the class of the objects that tell of a server's changes. */
export function hubObject({ sessionBinding = 'MCP_SESSION' }: WorkerOptions): ObjectClass {
  return class McpHub extends DurableObject {
    readonly #sessions: HubSessions
    readonly #quota: ConnectionQuota

    constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
      super(ctx, env)
      const { sql } = requireSql(ctx.storage, 'McpHub')
      this.#sessions = new HubSessions(ctx, new HubLog(sql))
      this.#quota = new ConnectionQuota(ctx)
    }

    /** Opens the socket of a listener, or that of a session's stream. */
    override async fetch({ headers, signal }: Request): Promise<Response> {
      // Who gave up meanwhile must not take a socket from others.
      if (signal.aborted) return new Response(null, { status: 503 })
      const session = readSessionStream(headers)
      const account = readAccount(headers)
      try {
        const refusal = this.#quota.acquire(account)
        if (refusal !== undefined) return new Response(null, { status: refusal })
        if (!session) return this.#listen(readFilter(headers), account)
        await this.#sweepLater()
        return this.#sessions.listen(session, account)
      } catch (error) {
        console.error(error)
        return new Response(null, { status: 503 })
      }
    }

    /** Lets the stream of a session have its turn, as somebody waits for it. */
    override webSocketMessage(socket: WebSocket): void {
      this.#sessions.begin(socket)
    }

    override webSocketError(socket: WebSocket): void {
      this.#closed(socket)
    }

    override webSocketClose(socket: WebSocket): void {
      socket.close()
      this.#closed(socket)
    }

    /** Tells everybody who wants to hear of it of a change. */
    publish(change: ServerChange): void {
      this.#sessions.tell(change)
      const text = JSON.stringify(change)
      for (const socket of this.ctx.getWebSockets(LISTENER)) {
        if (mayPass(socket.deserializeAttachment(), change)) send(socket, text)
      }
    }

    /** Notes what a session watches, instead of what it did before. */
    async watch(session: string, watched: readonly string[]): Promise<void> {
      await this.#sweepLater()
      this.#sessions.watch(session, watched)
    }

    /** Whether a session has an open stream. */
    listens(session: string): boolean {
      return this.#sessions.listens(session)
    }

    /** Forgets a session that ended, and ends its streams. */
    leave(session: string): void {
      this.#sessions.leave(session)
    }

    /** Forgets sessions whose objects could not say that they ended. */
    override async alarm(): Promise<void> {
      const namespace = requireNamespace(this.env, sessionBinding, 'McpSession')
      const isThere = async (session: string): Promise<boolean> => {
        const id = objectOf(namespace, session)
        try {
          return (
            id !== undefined &&
            (await withObjectTimeout('session', () => namespace.get(id).keeps(session)))
          )
        } catch (error) {
          // It is asked again.
          console.error(error)
          return true
        }
      }
      const before = Date.now() - STALE_MS
      const asked = await this.#sessions.sweep(isThere, { before, limit: MAX_ASKED })
      await this.ctx.storage.setAlarm(Date.now() + (asked < MAX_ASKED ? SWEEP_MS : SWEEP_ON_MS))
    }

    #closed(socket: WebSocket): void {
      this.#quota.release()
      this.#sessions.closed(socket)
    }

    #listen(filter: unknown, account: string): Response {
      const { 0: client, 1: socket } = new WebSocketPair()
      this.ctx.acceptWebSocket(socket, [LISTENER, account])
      socket.serializeAttachment(filter)
      return new Response(null, { status: 101, webSocket: client })
    }

    async #sweepLater(): Promise<void> {
      const { storage } = this.ctx
      if ((await storage.getAlarm()) === null) await storage.setAlarm(Date.now() + SWEEP_MS)
    }
  }
}

/** A socket whose other end is gone, or does not read, must not keep others from hearing of it. */
function send(socket: WebSocket, text: string): void {
  try {
    socket.send(text)
  } catch {
    socket.close(1011, 'The listener does not read')
  }
}
