import { describe, expect, it } from 'vitest'
import { degradeClientResult } from '../../src/protocol/degrade-client-result.ts'
import { findRevision, type Revision } from '../../src/protocol/revisions.ts'
import { schemaErrors } from '../schema/validator.ts'
import { samplingParams } from './rich.ts'

const facts = (version: Revision) => findRevision(version)!
const legacy: Revision[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']
const all: Revision[] = [...legacy, '2026-07-28']
const closed = { closed: true }

describe('degradeClientResult', () => {
  const messages = samplingParams.messages as { content: object }[]
  const sampled = (content: unknown, revision: Revision) =>
    degradeClientResult(
      'sampling/createMessage',
      { role: 'assistant', model: 'm', stopReason: 'endTurn', content },
      facts(revision),
    )

  it.each(legacy)('leaves nothing in sampled messages that %s lacks [L-LIFE-015]', (revision) => {
    for (const { content } of messages) {
      const degraded = sampled(content, revision)
      const faults = schemaErrors(revision, 'CreateMessageResult', degraded, closed)
      expect(faults).toEqual([])
    }
  })

  it('sends all text as one block before 2025-11-25, or else the first block', () => {
    const text = (value: string) => ({ type: 'text', text: value })
    const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' }
    const content = (value: unknown) => sampled(value, '2025-06-18').content

    expect(content([text('a'), image, text('b')])).toEqual(text('a\n\nb'))
    expect(content([image, image])).toEqual(image)
    expect(content([image])).toEqual(image)
    expect(content([])).toEqual(text(''))
  })

  it.each(all)('leaves nothing in roots that %s lacks', (revision) => {
    const result = { roots: [{ uri: 'file:///a', name: 'A', _meta: { 'com.example/k': 1 } }] }
    const degraded = degradeClientResult('roots/list', result, facts(revision))

    expect(schemaErrors(revision, 'ListRootsResult', degraded, closed)).toEqual([])
    expect(degraded).toMatchObject({ roots: [{ uri: 'file:///a', name: 'A' }] })
  })

  it('gives known results back as the same object', () => {
    const result = { action: 'accept', content: { x: 1 } }
    for (const revision of all) {
      expect(degradeClientResult('elicitation/create', result, facts(revision))).toBe(result)
    }
  })
})
