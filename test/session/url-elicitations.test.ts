import { expect, it } from 'vitest'
import { noteElicitation, takeElicitation } from '../../src/session/url-elicitations.ts'
import type { SessionRecord } from '../../src/session/session.ts'

it('A session remembers the newest 100 URLs that its client was asked to have opened, each once', () => {
  const record: SessionRecord = {
    revision: '2025-11-25',
    clientInfo: { name: 'test', version: '1' },
    clientCapabilities: {},
    initialized: true,
    subscriptions: [],
  }
  for (let n = 0; n < 101; n++) noteElicitation(record, `id ${n}`)
  expect(record.elicitations).toHaveLength(100)
  expect(takeElicitation(record, 'id 0')).toBe(false)
  for (const n of [1, 100]) {
    expect(takeElicitation(record, `id ${n}`)).toBe(true)
    expect(takeElicitation(record, `id ${n}`)).toBe(false)
  }
})
