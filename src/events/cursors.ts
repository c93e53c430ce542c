/**
 * Cursors: positions that clients cannot read or change.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { boundedCache } from '../patterns/bounded-cache.ts'
import { createSealer } from '../patterns/sealed-state.ts'
import { decodeBase64Url } from '../protocol/base64url.ts'
import { invalidParams } from '../server/request/params.ts'
import type { EventLog, Position } from './storage.ts'

/** The minimum size of a sealed text, in bytes: its version, key id, initialization vector and tag. */
const MIN_BYTES = 33
/** How many encrypted cursors are cached. */
const MAX_CACHED = 1000

/** The contents of a cursor. */
export interface Cursor {
  /** The name of the event type. */
  readonly name: string
  readonly position: Position
  /** The number of incompatible schema changes of the type before the cursor was created. */
  readonly epoch: number
}

/** Encrypts and decrypts the cursors of a server. */
export interface Cursors {
  seal(cursor: Cursor): Promise<string>
  /**
   * Decrypts a cursor.
   *
   * @returns The cursor. Undefined if the text may be a cursor of an earlier process, whose log in memory
   *   was lost.
   * @throws {ProtocolError} `INVALID_PARAMS` if the text is not a cursor of this server and event type.
   */
  open(text: unknown, name: string): Promise<Cursor | undefined>
}

/** Creates the functions for the cursors of a log. */
export function sealedCursors(log: EventLog): Cursors {
  const sealer = createSealer(() => log.secret())
  const cached = boundedCache<string, string>(MAX_CACHED)

  return {
    async seal(cursor) {
      const key = JSON.stringify(cursor)
      // Subscriptions at the same position share one cursor, which is encrypted once
      const sealed = cached.get(key) ?? (await sealer.seal(cursor))
      cached.set(key, sealed)
      return sealed
    },

    async open(text, name) {
      if (isSealed(text)) {
        // Only `seal` encrypts with this key, so any text that can be decrypted is a cursor
        const cursor = (await sealer.open(text)) as Cursor | undefined
        if (cursor?.name === name) return cursor
        // The secret of a log in memory is lost with the log
        if (!cursor && !log.durable) return undefined
      }
      throw invalidParams('The cursor is not from this server, or belongs to another event type')
    },
  }
}

/** Whether a text has the format of a cursor, possibly of another server. */
function isSealed(text: unknown): text is string {
  const bytes = typeof text === 'string' ? decodeBase64Url(text) : undefined
  return bytes?.[0] === 1 && bytes.length >= MIN_BYTES
}
