/**
 * A Durable Object that announces the changes of all isolates to clients. Streams of clients of 2026-07-28, and the
 * standalone streams of sessions, are connected to it. If there are several such objects, each has a part of the
 * streams. Each stream is a socket, which stays open while the object hibernates, so a change wakes no other object.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
import { DurableObject } from 'cloudflare:workers'
import type { ServerChange } from '#internal/http'
import { requireNamespace, requireSql } from './bindings.ts'
import { HubListeners } from './hub-listeners.ts'
import { HubLog } from './hub-log.ts'
import { ConnectionQuota, readAccount } from './connection-quota.ts'
import { HubSessions } from './hub-sessions.ts'
import { readSessionStream, readFilter } from './subscription-filter.ts'
import type { WorkerOptions } from './options.ts'
import { withObjectTimeout } from './object-timeout.ts'
import { objectIdOf } from './session-id.ts'
import type { DurableObjectClass } from './session-object.ts'

/** How often the hub looks for sessions that ended without notifying the hub, in milliseconds. */
const SWEEP_MS = 86_400_000
/** When the hub looks again if more sessions than `MAX_CHECKED` may need a check, in milliseconds. */
const CONTINUE_SWEEP_MS = 600_000
/** The time without activity after which a session is checked for existence, in milliseconds. */
const STALE_MS = 604_800_000
/** The maximum number of sessions that one check looks at, because the platform limits the calls of one alarm. */
const MAX_CHECKED = 500

/** Creates the class of the objects that announce a server's changes. */
export function hubObject({ sessionBinding = 'MCP_SESSION' }: WorkerOptions): DurableObjectClass {
  return class McpHub extends DurableObject {
    readonly #sessions: HubSessions
    readonly #listeners: HubListeners
    readonly #quota: ConnectionQuota

    constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
      super(ctx, env)
      const { sql } = requireSql(ctx.storage, 'McpHub')
      this.#sessions = new HubSessions(ctx, new HubLog(sql))
      this.#listeners = new HubListeners(ctx)
      this.#quota = new ConnectionQuota(ctx)
    }

    /** Opens the socket of a listener, or of the stream of a session. */
    override async fetch({ headers, signal }: Request): Promise<Response> {
      // A caller that has aborted must not occupy a socket
      if (signal.aborted) return new Response(null, { status: 503 })
      const streamRequest = readSessionStream(headers)
      const account = readAccount(headers)
      try {
        const rejectionStatus = this.#quota.acquire(account)
        if (rejectionStatus !== undefined) return new Response(null, { status: rejectionStatus })
        if (!streamRequest) return this.#listeners.listen(readFilter(headers), account)
        await this.#scheduleSweep()
        return this.#sessions.listen(streamRequest, account)
      } catch (error) {
        console.error(error)
        return new Response(null, { status: 503 })
      }
    }

    /** Starts the stream of a session. The Worker sends a message when the client is ready. */
    override webSocketMessage(socket: WebSocket): void {
      this.#sessions.begin(socket)
    }

    override webSocketError(socket: WebSocket): void {
      this.#handleClosed(socket)
    }

    override webSocketClose(socket: WebSocket): void {
      socket.close()
      this.#handleClosed(socket)
    }

    /** Announces a change to every subscribed session and listener. */
    publish(change: ServerChange): void {
      this.#sessions.announce(change)
      this.#listeners.announce(change)
    }

    /** Replaces the subscriptions of a session. */
    async watch(session: string, watched: readonly string[]): Promise<void> {
      await this.#scheduleSweep()
      this.#sessions.watch(session, watched)
    }

    /** Whether a session has an open stream. */
    listens(session: string): boolean {
      return this.#sessions.listens(session)
    }

    /** Removes a session that ended, and ends its streams. */
    leave(session: string): void {
      this.#sessions.leave(session)
    }

    /** Removes sessions that ended without notifying the hub. */
    override async alarm(): Promise<void> {
      const namespace = requireNamespace(this.env, sessionBinding, 'McpSession')
      const exists = async (session: string): Promise<boolean> => {
        const id = objectIdOf(namespace, session)
        try {
          return (
            id !== undefined &&
            (await withObjectTimeout('session', () => namespace.get(id).keeps(session)))
          )
        } catch (error) {
          // A session that cannot be checked counts as existing, and is checked again next time
          console.error(error)
          return true
        }
      }
      const before = Date.now() - STALE_MS
      const checked = await this.#sessions.sweep(exists, { before, limit: MAX_CHECKED })
      const delayMs = checked < MAX_CHECKED ? SWEEP_MS : CONTINUE_SWEEP_MS
      await this.ctx.storage.setAlarm(Date.now() + delayMs)
    }

    #handleClosed(socket: WebSocket): void {
      this.#quota.release()
      this.#sessions.replaceClosed(socket)
      this.#listeners.removeClosed(socket)
    }

    async #scheduleSweep(): Promise<void> {
      const { storage } = this.ctx
      if ((await storage.getAlarm()) === null) await storage.setAlarm(Date.now() + SWEEP_MS)
    }
  }
}
