import { describe, expect, it } from 'vitest'
import type { Sql } from '../../src/sqlite/sql.ts'
import { SqlSessionStore } from '../../src/sqlite/index.ts'

/** A database whose tables say that they have a version, and that notes what is run. */
function database(version: number | undefined): { sql: Sql; ran: string[] } {
  const ran: string[] = []
  const sql: Sql = {
    run: (script) => void ran.push(script),
    all: (query) => {
      if (query.includes('SELECT version')) return [{ version }] as never[]
      if (query.includes('sqlite_master')) return (version ? [{ found: 1 }] : []) as never[]
      ran.push(query)
      return []
    },
    transaction: (work) => work(),
  }
  return { sql, ran }
}

describe('The tables of sessions', () => {
  it('are not touched when a later version of the package made them', () => {
    const { sql, ran } = database(99)
    expect(() => new SqlSessionStore(sql)).toThrow(
      'The tables have version 99, but this version of edgewise supports at most 1',
    )
    expect(ran).toEqual([])
  })

  it('are left as they are when this version made them', () => {
    const { sql, ran } = database(1)
    expect(new SqlSessionStore(sql).load('one')).toBeUndefined()
    expect(ran).toEqual(['SELECT record FROM mcp_sessions WHERE id = ?'])
  })

  it('are not made by looking for a session', () => {
    const { sql, ran } = database(undefined)
    const store = new SqlSessionStore(sql)
    expect([store.load('one'), store.listening(), store.touch('one')]).toEqual([
      undefined,
      [],
      false,
    ])
    store.remove('one')
    expect(ran).toEqual([])
  })

  it('are not created again by late events after everything was deleted', () => {
    const { sql, ran } = database(undefined)
    const store = new SqlSessionStore(sql)
    const events = store.eventStore('one')
    store.markErased()
    events.put({ id: 'stream' })
    expect(events.storeEvent('stream', 'late')).toBeUndefined()
    expect(ran).toEqual([])
  })
})
