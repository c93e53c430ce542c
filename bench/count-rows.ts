/** Counts the rows that objects write, which is what their storage is billed for. */

/** What is counted of an object's state. */
interface State {
  readonly storage: {
    readonly sql: { exec(...args: unknown[]): { rowsWritten: number; toArray(): unknown[] } }
    readonly kv?: { put(...args: unknown[]): void }
    put(...args: unknown[]): Promise<void>
    setAlarm(...args: unknown[]): Promise<void>
  }
}

/** Calls `note` with the number of rows at every write to the storage of an object. */
export function countRows(ctx: unknown, note: (rows: number) => void): void {
  const { storage } = ctx as State
  const { sql, kv } = storage
  const exec = sql.exec.bind(sql)
  sql.exec = (...args) => {
    const cursor = exec(...args)
    note(cursor.rowsWritten)
    return cursor
  }
  const put = storage.put.bind(storage)
  storage.put = (...args) => {
    note(1)
    return put(...args)
  }
  const setAlarm = storage.setAlarm.bind(storage)
  storage.setAlarm = (...args) => {
    note(1)
    return setAlarm(...args)
  }
  if (!kv) return
  const putNow = kv.put.bind(kv)
  kv.put = (...args) => {
    note(1)
    putNow(...args)
  }
}
