/**
 * The record of a session that several processes may change at the same time. Each process applies its
 * changes to the stored record.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 */
import type { SessionRecord } from '../../session/session.ts'
import { sessionNotFound } from '../../transport/http/http-error.ts'

/** A record with its version, as stored. */
export interface StoredRecord {
  readonly record: SessionRecord
  readonly version: number
}

/** The table of records. */
interface RecordTable {
  /** If `version` is the stored version, stores `record` as the next version. Returns whether it was stored. */
  save(id: string, version: number, record: string): Promise<boolean>
  readRecord(id: string): Promise<StoredRecord | undefined>
}

/** The record of one session in this process. */
export class SharedRecord {
  /** The record that handlers read and change. */
  readonly current: SessionRecord
  readonly #table: RecordTable
  readonly #id: string
  readonly #onChange: () => void
  #stored: SessionRecord
  #version: number

  /** @param onChange Called when the record has changed. */
  constructor(
    table: RecordTable,
    id: string,
    { record, version }: StoredRecord,
    onChange: () => void,
  ) {
    this.#table = table
    this.#id = id
    this.#onChange = onChange
    this.#version = version
    this.#stored = record
    this.current = structuredClone(record)
  }

  /** Applies a stored record. Changes of this process that are not stored yet remain. */
  refresh({ record, version }: StoredRecord): void {
    if (version <= this.#version) return
    const merged = mergeRecords(this.#stored, this.current, record)
    this.#stored = record
    this.#version = version
    this.#assign(merged)
  }

  /**
   * Stores the changes of this process.
   *
   * @throws {UnavailableError} If the database cannot be used. The changes are then undone.
   * @throws {HttpError} 404 If the session ended.
   */
  async save(): Promise<void> {
    this.#onChange()
    while (comparisonText(this.current) !== comparisonText(this.#stored)) {
      const version = this.#version
      const text = JSON.stringify(this.current)
      try {
        if (await this.#table.save(this.#id, version, text)) {
          // While the query ran, `refresh` may have applied this version or a later one
          if (version < this.#version) continue
          this.#version = version + 1
          this.#stored = JSON.parse(text) as SessionRecord
          continue
        }
        const newer = await this.#table.readRecord(this.#id)
        if (!newer) throw sessionNotFound()
        this.refresh(newer)
      } catch (error) {
        this.#assign(this.#stored)
        throw error
      }
    }
  }

  #assign(record: SessionRecord): void {
    // Clears the optional members first, because `record` may not have them
    const cleared = { logLevel: undefined, elicitations: undefined }
    Object.assign(this.current, cleared, structuredClone(record))
    this.#onChange()
  }
}

/** The members of a record that may change, as text to compare. */
function comparisonText(record: SessionRecord): string {
  const { initialized, logLevel, subscriptions, elicitations } = record
  return JSON.stringify([initialized, logLevel, subscriptions, elicitations])
}

/** Applies the changes between two records to a third. */
export function mergeRecords(
  base: SessionRecord,
  changed: SessionRecord,
  onto: SessionRecord,
): SessionRecord {
  const merged: SessionRecord = {
    ...onto,
    initialized: changed.initialized || onto.initialized,
    subscriptions: mergeLists(base.subscriptions, changed.subscriptions, onto.subscriptions),
  }
  if (changed.logLevel !== undefined && changed.logLevel !== base.logLevel) {
    merged.logLevel = changed.logLevel
  }
  if (changed.elicitations !== undefined || onto.elicitations !== undefined) {
    merged.elicitations = mergeLists(base.elicitations, changed.elicitations, onto.elicitations)
  }
  return merged
}

/** Applies the additions and removals between two lists to a third list. */
function mergeLists(
  base: readonly string[] = [],
  changed: readonly string[] = [],
  onto: readonly string[] = [],
): string[] {
  const before = new Set(base)
  const after = new Set(changed)
  const remaining = onto.filter((item) => after.has(item) || !before.has(item))
  const present = new Set(remaining)
  const added = changed.filter((item) => !before.has(item) && !present.has(item))
  return [...remaining, ...added]
}
