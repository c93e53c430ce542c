// Events in memory.
import { describe, it } from 'vitest'
import { createMemoryEventStorage } from '../../src/events/memory-storage.ts'
import { eventStorageSuite } from './storage-suite.ts'

describe('The storage of events in memory', () => {
  const open = () => Promise.resolve({ storage: createMemoryEventStorage() })
  it.each(Object.entries(eventStorageSuite(open)))('%s', (_name, run) => run())
})
