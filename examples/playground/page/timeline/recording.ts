/** The records of a session with the entries that follow from them. The oldest are removed above a limit. */
import { entryBuilder } from './entries.ts'
import { end, type Entry } from './entry.ts'
import type { SessionRecord } from './record.ts'

/** The maximum number of records. */
const MAX_RECORDS = 50_000
/** The maximum length of all bodies, in characters. */
const MAX_LENGTH = 64_000_000

/** The outcome of what was in progress when a session was exported. */
const UNFINISHED = 'in progress at the export'

/** Receives the changes of a recording. */
export interface RecordingListener {
  /** Called with entries that are new or have changed. */
  onChange(changed: ReadonlySet<Entry>): void
  /** Called when entries were removed. */
  onRemove(): void
}

/** The records and entries of a session. */
export interface Recording {
  readonly records: readonly SessionRecord[]
  /** The entries, in the order of their start. */
  readonly entries: readonly Entry[]
  add(record: SessionRecord): void
  /** Removes everything except requests that are in progress. */
  clear(): void
  /** Ends what is in progress, because no more records follow. */
  finish(): void
  /** Sets the only listener. */
  listen(listener: RecordingListener | undefined): void
}

/** Creates an empty recording. */
export function createRecording(): Recording {
  const builder = entryBuilder()
  let records: SessionRecord[] = []
  let entries: Entry[] = []
  let length = 0
  let listener: RecordingListener | undefined
  let lastId = 0
  /** The entries that were removed while in progress. What follows belongs to them, and is not shown. */
  const removed = new WeakSet<Entry>()

  /** Removes the first records, except for the beginnings of exchanges that are in progress. */
  function removeRecords(count: number): void {
    const open = builder.openExchanges()
    const isNeeded = (record: SessionRecord): boolean =>
      (record.type === 'request' || record.type === 'response') && open.has(record.http)
    records = [...records.slice(0, count).filter(isNeeded), ...records.slice(count)]
    length = records.reduce((sum, record) => sum + lengthOf(record), 0)
  }

  /** Removes the other entries. */
  function keepEntries(isKept: (entry: Entry) => boolean): void {
    for (const entry of entries) if (!isKept(entry)) removed.add(entry)
    entries = entries.filter(isKept)
    builder.endTaskGroups()
  }

  return {
    get records() {
      return records
    },
    get entries() {
      return entries
    },
    add(record) {
      records.push(record)
      length += lengthOf(record)
      const changed = builder.add(record)
      for (const entry of changed) {
        if (entry.id <= lastId) continue
        lastId = entry.id
        entries.push(entry)
      }
      listener?.onChange(new Set([...changed].filter((entry) => !removed.has(entry))))
      if (records.length <= MAX_RECORDS && length <= MAX_LENGTH) return
      const count = Math.ceil(records.length / 10)
      const from = records[count]?.at ?? 0
      removeRecords(count)
      keepEntries(({ end = Infinity }) => end >= from)
      listener?.onRemove()
    },
    clear() {
      removeRecords(records.length)
      keepEntries(({ end, isStream }) => end === undefined && !isStream)
      listener?.onRemove()
    },
    finish() {
      const last = records.at(-1)?.at ?? 0
      for (const entry of entries) {
        const at = Math.max(last, entry.start)
        // A stream that listens is usually open
        if (entry.isStream) entry.end ??= at
        else if (entry.end === undefined) end(entry, at, UNFINISHED)
      }
    },
    listen(next) {
      listener = next
    },
  }
}

function lengthOf(record: SessionRecord): number {
  return 'length' in record ? (record.length ?? 0) : 0
}
