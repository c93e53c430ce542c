/** Counts the rows that objects write and read, which determine the cost of their storage. */

/** The members of an object's state that are counted. */
interface State {
  readonly storage: {
    readonly sql: {
      exec(...args: unknown[]): {
        rowsRead: number
        rowsWritten: number
        toArray(): unknown[]
      }
    }
    readonly kv?: { put(...args: unknown[]): void; get(...args: unknown[]): unknown }
    put(...args: unknown[]): Promise<void>
    setAlarm(...args: unknown[]): Promise<void>
  }
}

/**
 * Calls `note` with the number of rows for every write to an object's storage, and `noteRead` with
 * that for every read.
 */
export function countRows(
  ctx: unknown,
  noteWritten: (rows: number) => void,
  noteRead: (rows: number) => void = () => {},
): void {
  const { storage } = ctx as State
  const { sql, kv } = storage
  const exec = sql.exec.bind(sql)
  sql.exec = (...args) => {
    const cursor = exec(...args)
    noteWritten(cursor.rowsWritten)
    // The caller consumes the rows first
    queueMicrotask(() => noteRead(cursor.rowsRead))
    return cursor
  }
  const put = storage.put.bind(storage)
  storage.put = (...args) => {
    noteWritten(1)
    return put(...args)
  }
  const setAlarm = storage.setAlarm.bind(storage)
  storage.setAlarm = (...args) => {
    noteWritten(1)
    return setAlarm(...args)
  }
  if (!kv) return
  const putNow = kv.put.bind(kv)
  kv.put = (...args) => {
    noteWritten(1)
    putNow(...args)
  }
  const get = kv.get.bind(kv)
  kv.get = (...args) => {
    noteRead(1)
    return get(...args)
  }
}
