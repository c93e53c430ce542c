// Events of several processes that share a database.
import { describe, it } from 'vitest'
import { eventStorageSuite } from '../events/storage-suite.ts'
import { openSchema } from './database.ts'

describe('The storage of events in Postgres', () => {
  const suite = eventStorageSuite(() => {
    const schema = openSchema()
    return Promise.resolve({
      storage: schema.open().storage.eventStorage(),
      reopen: () => schema.open().storage.eventStorage(),
    })
  })
  it.each(Object.entries(suite))('%s', (_name, run) => run())
})
