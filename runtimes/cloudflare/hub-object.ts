/**
 * A Durable Object that tells of changes: to listeners in any isolate by sockets that outlive it in
 * memory, and to the session objects that joined it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
import { DurableObject } from 'cloudflare:workers'
import type { ServerChange } from '../../src/server/index.ts'
import { requireNamespace, requireSql } from './bindings.ts'
import { readWish, wants } from './hub-wish.ts'
import type { WorkerOptions } from './options.ts'
import type { ObjectClass } from './session-object.ts'

/** How many session objects are told at a time, and in one run; the platform bounds both. */
const AT_ONCE = 50
const PER_RUN = 500
/** Milliseconds that others wait for a session object that does not answer. */
const PATIENCE_MS = 10_000

/** Makes the class of the objects that tell of a server's changes. */
export function hubObject<Env>({
  sessionBinding = 'MCP_SESSION',
}: WorkerOptions<Env>): ObjectClass {
  return class McpHub extends DurableObject {
    readonly #sql: SqlStorage

    constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
      super(ctx, env)
      this.#sql = requireSql(ctx.storage, 'McpHub').sql
      this.#sql.exec(`
        CREATE TABLE IF NOT EXISTS mcp_members (object TEXT PRIMARY KEY) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS mcp_watched (
          uri TEXT NOT NULL,
          object TEXT NOT NULL,
          PRIMARY KEY (uri, object)
        ) WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS mcp_watched_by_object ON mcp_watched (object);
        CREATE TABLE IF NOT EXISTS mcp_telling (
          id INTEGER PRIMARY KEY,
          change TEXT NOT NULL,
          told TEXT NOT NULL
        );`)
    }

    /** Opens the socket of a listener. */
    override fetch(request: Request): Response {
      const { 0: client, 1: socket } = new WebSocketPair()
      this.ctx.acceptWebSocket(socket)
      socket.serializeAttachment(readWish(request.headers))
      return new Response(null, { status: 101, webSocket: client })
    }

    override webSocketMessage(): void {}

    override webSocketClose(socket: WebSocket): void {
      socket.close()
    }

    /** Tells everybody who wants to hear of it of a change. */
    async publish(change: ServerChange): Promise<void> {
      const text = JSON.stringify(change)
      const members = this.#membersFor(change, '')
      // Before anybody is told, so that all are if this object goes in between.
      const many = members.length > AT_ONCE
      if (many) this.#sql.exec("INSERT INTO mcp_telling (change, told) VALUES (?, '')", text)
      for (const socket of this.ctx.getWebSockets()) {
        if (wants(socket.deserializeAttachment(), change)) send(socket, text)
      }
      if (many) await this.ctx.storage.setAlarm(Date.now())
      else await this.#tellAll(members, change)
    }

    /** Tells of changes that concern many objects; some may be told twice when a run breaks off. */
    override async alarm(): Promise<void> {
      const next = 'SELECT id, change, told FROM mcp_telling ORDER BY id LIMIT 1'
      const [row] = this.#sql.exec<{ id: number; change: string; told: string }>(next).toArray()
      if (!row) return
      const change = JSON.parse(row.change) as ServerChange
      const members = this.#membersFor(change, row.told)
      await this.#tellAll(members, change)
      const told = members.length === PER_RUN ? members.at(-1) : undefined
      if (told === undefined) this.#sql.exec('DELETE FROM mcp_telling WHERE id = ?', row.id)
      else this.#sql.exec('UPDATE mcp_telling SET told = ? WHERE id = ?', told, row.id)
      await this.ctx.storage.setAlarm(Date.now())
    }

    /** Lets a session object hear of changes of lists, and of the resources that it watches. */
    join(object: string, watched: readonly string[]): void {
      this.#sql.exec('INSERT OR IGNORE INTO mcp_members (object) VALUES (?)', object)
      this.#sql.exec(
        'DELETE FROM mcp_watched WHERE object = ? AND uri NOT IN (SELECT value FROM json_each(?))',
        object,
        JSON.stringify(watched),
      )
      this.#sql.exec(
        'INSERT OR IGNORE INTO mcp_watched (uri, object) SELECT value, ? FROM json_each(?)',
        object,
        JSON.stringify(watched),
      )
    }

    /** Forgets a session object. */
    leave(object: string): void {
      this.#sql.exec('DELETE FROM mcp_members WHERE object = ?', object)
      this.#sql.exec('DELETE FROM mcp_watched WHERE object = ?', object)
    }

    async #tellAll(members: readonly string[], change: ServerChange): Promise<void> {
      for (let at = 0; at < members.length; at += AT_ONCE) {
        const some = members.slice(at, at + AT_ONCE)
        await Promise.all(some.map((object) => this.#tell(object, change)))
      }
    }

    /** The objects that a change concerns, of those after one; as many as one run may tell. */
    #membersFor(change: ServerChange, after: string): string[] {
      const some = `object > ? ORDER BY object LIMIT ${PER_RUN}`
      const rows =
        'uri' in change
          ? this.#sql.exec<{ object: string }>(
              `SELECT DISTINCT object FROM mcp_watched
               WHERE uri IN (SELECT value FROM json_each(?)) AND ${some}`,
              JSON.stringify(coveringUris(change.uri)),
              after,
            )
          : this.#sql.exec<{ object: string }>(
              `SELECT object FROM mcp_members WHERE ${some}`,
              after,
            )
      return rows.toArray().map(({ object }) => object)
    }

    async #tell(object: string, change: ServerChange): Promise<void> {
      const sessions = requireNamespace(this.env, sessionBinding, 'McpSession')
      let timer = 0
      const late = new Promise<never>((_resolve, reject) => {
        const error = new Error(`The session object "${object}" did not take a change in time`)
        timer = setTimeout(reject, PATIENCE_MS, error)
      })
      try {
        const told = sessions.get(sessions.idFromString(object)).announce(change)
        const known = await Promise.race([told, late])
        if (!known) this.leave(object)
      } catch (error) {
        // One session that fails, or hangs, must not keep the others from hearing of it.
        console.error(error)
      } finally {
        clearTimeout(timer)
      }
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

/** Every URI that, when watched, covers an updated one: itself, and what lies above it. */
function coveringUris(updated: string): string[] {
  const uris = [updated]
  for (let at = updated.indexOf('/'); at >= 0; at = updated.indexOf('/', at + 1)) {
    uris.push(updated.slice(0, at), updated.slice(0, at + 1))
  }
  return uris
}
