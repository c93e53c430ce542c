/**
 * Cursors: positions that clients cannot read or change.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { boundedCache } from '../patterns/bounded-cache.ts'
import { createSealer, type Sealer } from '../patterns/sealed-state.ts'
import { decodeBase64Url } from '../protocol/base64url.ts'
import type { EventLog, Position } from './storage.ts'

/** The shortest sealed text, in bytes: version, key id, initialization vector and tag. */
const MIN_BYTES = 33
/** How many encrypted cursors are cached. Readers at the same position share one. */
const MAX_CACHED = 1000

/** The contents of a cursor. */
export interface Cursor {
  /** The name of the event type. */
  readonly name: string
  readonly position: Position
  /** The checksum of the type's schemas when the cursor was created. */
  readonly checksum: string
}

/** Encrypts and decrypts the cursors of a server. */
export class Cursors {
  readonly #sealer: Sealer
  readonly #sealed = boundedCache<string, string>(MAX_CACHED)

  constructor(log: EventLog) {
    this.#sealer = createSealer(() => log.secret())
  }

  /** Encrypts a cursor. */
  async seal({ name, position, checksum }: Cursor): Promise<string> {
    const key = JSON.stringify([name, position, checksum])
    const cached = this.#sealed.get(key)
    if (cached !== undefined) return cached
    const sealed = await this.#sealer.seal({ name, position, checksum })
    this.#sealed.set(key, sealed)
    return sealed
  }

  /** Decrypts a cursor; undefined if it was sealed with another key, or was changed. */
  async open(text: string): Promise<Cursor | undefined> {
    // Only `seal` has the key, so whatever can be decrypted is a cursor
    return (await this.#sealer.open(text)) as Cursor | undefined
  }
}

/** Whether a text has the format of a cursor, whoever created it. */
export function isCursor(text: unknown): text is string {
  if (typeof text !== 'string') return false
  const bytes = decodeBase64Url(text)
  return bytes?.[0] === 1 && bytes.length >= MIN_BYTES
}

/** A short checksum of the schemas of an event type (FNV-1a). */
export function checksumOf(text: string): string {
  let sum = 0x811c9dc5
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193)
  return (sum >>> 0).toString(36)
}
