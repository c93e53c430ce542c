// Which failures of a query another attempt may not meet.
import { describe, expect, it } from 'vitest'
import { isTransient } from '../../src/postgres/unavailable.ts'
import { openSchema } from './database.ts'

function fromServer(code: string): Error {
  return Object.assign(new Error(code), { name: 'PostgresError', code })
}

describe('A failure of a query', () => {
  it.each([
    ['the server restarts', fromServer('57P01')],
    ['the server starts', fromServer('57P03')],
    ['the query was cancelled', fromServer('57014')],
    ['there are too many connections', fromServer('53300')],
    ['the disk is full', fromServer('53100')],
    ['transactions conflict', fromServer('40001')],
    ['the server became a standby', fromServer('25006')],
    ['the connection was refused', Object.assign(new Error(), { code: 'ECONNREFUSED' })],
    ['the connection took too long', Object.assign(new Error(), { code: 'CONNECT_TIMEOUT' })],
    ['the client was closed', Object.assign(new Error(), { code: 'CONNECTION_ENDED' })],
  ])('is temporary when %s', (_why, error) => {
    expect(isTransient(error)).toBe(true)
  })

  it.each([
    ['a permission is missing', fromServer('42501')],
    ['the password is wrong', fromServer('28P01')],
    ['the query is wrong', fromServer('42601')],
    ['a program is at fault', new TypeError('x is not a function')],
  ])('is permanent when %s', (_why, error) => {
    expect(isTransient(error)).toBe(false)
  })

  it('that is permanent reaches the caller as it is', async () => {
    const { schema, sql, open } = openSchema()
    const store = open().storage.taskStore()
    await store.count()
    await sql`ALTER TABLE ${sql(`${schema}.mcp_tasks`)} RENAME COLUMN principal TO other`
    await expect(store.count('ada')).rejects.toThrow('column "principal" does not exist')
  })
})
