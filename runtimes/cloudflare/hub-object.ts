/**
 * A Durable Object that tells of changes, in any isolate: to listeners of 2026-07-28, and to the
 * sessions of its shard, on the streams that belong to none of their requests. All of them are
 * sockets that outlive it in memory, so nobody else is woken by a change.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
import { DurableObject } from 'cloudflare:workers'
import type { ServerChange } from '../../src/server/index.ts'
import { requireSql } from './bindings.ts'
import { HubLog } from './hub-log.ts'
import { HubSessions } from './hub-sessions.ts'
import { readSession, readWish, wants } from './hub-wish.ts'
import type { WorkerOptions } from './options.ts'
import type { ObjectClass } from './session-object.ts'

/** What marks the sockets of listeners of 2026-07-28. */
const LISTENER = 'listener'

/** Makes the class of the objects that tell of a server's changes. */
export function hubObject<Env>(_options: WorkerOptions<Env>): ObjectClass {
  return class McpHub extends DurableObject {
    readonly #sessions: HubSessions

    constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
      super(ctx, env)
      const { sql } = requireSql(ctx.storage, 'McpHub')
      this.#sessions = new HubSessions(ctx, new HubLog(sql))
    }

    /** Opens the socket of a listener, or that of a session's stream. */
    override fetch({ headers }: Request): Response {
      const session = readSession(headers)
      if (session) return this.#sessions.listen(session)
      const { 0: client, 1: socket } = new WebSocketPair()
      this.ctx.acceptWebSocket(socket, [LISTENER])
      socket.serializeAttachment(readWish(headers))
      return new Response(null, { status: 101, webSocket: client })
    }

    override webSocketMessage(): void {}

    override webSocketClose(socket: WebSocket): void {
      socket.close()
      this.#sessions.closed(socket)
    }

    /** Tells everybody who wants to hear of it of a change. */
    publish(change: ServerChange): void {
      this.#sessions.tell(change)
      const text = JSON.stringify(change)
      for (const socket of this.ctx.getWebSockets(LISTENER)) {
        if (wants(socket.deserializeAttachment(), change)) send(socket, text)
      }
    }

    /** Notes what a session watches, instead of what it did before. */
    watch(session: string, watched: readonly string[]): void {
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
