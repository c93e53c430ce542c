import { describe, expect, it } from 'vitest'
import { createMemorySessionStore } from '../../src/presets/server.ts'
import { storeSuite } from './store-suite.ts'

const suite = storeSuite(() => Promise.resolve({ store: createMemorySessionStore() }))

describe('The store in memory', () => {
  it.each(Object.entries(suite))('%s', (_name, run) => run())

  it.each([
    ['events', { maxEvents: 2 }],
    ['characters', { maxSize: 8 }],
  ])('keeps the newest %s within its bound', (_what, limits) => {
    const events = createMemorySessionStore(limits).eventStore('session')
    const ids = ['1111', '2222', '3333'].map(
      (message) => events.storeEvent('stream', message) ?? '',
    )
    expect(
      ids.map((id) => events.replayEventsAfter(id)?.events.map(({ message }) => message)),
    ).toEqual([undefined, ['3333'], []])
  })
})
