import { describe, it } from 'vitest'
import { createMemorySessionStore } from '../../src/server/index.ts'
import { storeSuite } from './store-suite.ts'

const suite = storeSuite(() => Promise.resolve({ store: createMemorySessionStore() }))

describe('The store in memory', () => {
  it.each(Object.entries(suite))('%s', (_name, run) => run())
})
