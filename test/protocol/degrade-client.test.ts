import { describe, expect, it } from 'vitest'
import {
  degradeClientCapabilities,
  degradeClientParams,
} from '../../src/protocol/degrade-client.ts'
import { findRevision, type Revision } from '../../src/protocol/revisions.ts'
import { schemaErrors } from '../schema/validator.ts'
import { clientCapabilities, implementation } from './rich.ts'

const facts = (version: Revision) => findRevision(version)!
const legacy: Revision[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']
const all: Revision[] = [...legacy, '2026-07-28']
const closed = { closed: true }

describe('degradeClientCapabilities', () => {
  it.each(legacy)('leaves nothing that %s lacks [L-LIFE-015]', (revision) => {
    const degraded = degradeClientCapabilities(clientCapabilities, facts(revision))

    expect(schemaErrors(revision, 'ClientCapabilities', degraded, closed)).toEqual([])
    expect(degraded).toMatchObject({ experimental: { x: {} }, roots: { listChanged: true } })
  })

  it('leaves tasks out in 2026-07-28, where they are an extension', () => {
    const degraded = degradeClientCapabilities(clientCapabilities, facts('2026-07-28'))

    expect(degraded).toEqual({ ...clientCapabilities, tasks: undefined })
    expect(degraded).not.toHaveProperty('tasks')
  })

  it('declares forms to 2025-06-18 with an empty object, and never URL mode alone', () => {
    const declared = (elicitation: object) =>
      degradeClientCapabilities({ elicitation }, facts('2025-06-18'))

    expect(declared({})).toEqual({ elicitation: {} })
    expect(declared({ form: {} })).toEqual({ elicitation: {} })
    expect(declared({ form: {}, url: {} })).toEqual({ elicitation: {} })
    expect(declared({ url: {} })).toEqual({})
  })

  it('keeps entries that no revision names, extensions included [M-BASE-064]', () => {
    const capabilities = { custom: { x: 1 }, extensions: { 'com.example/x': {} } }
    for (const revision of all) {
      expect(degradeClientCapabilities(capabilities, facts(revision))).toEqual(capabilities)
    }
  })
})

describe('degradeClientParams', () => {
  it.each(legacy)('introduces the client as %s can read it', (revision) => {
    const params = {
      protocolVersion: revision,
      clientInfo: implementation,
      capabilities: clientCapabilities,
    }
    const degraded = degradeClientParams('initialize', params, facts(revision))
    const envelope = revision === '2025-11-25' ? { jsonrpc: '2.0', id: 1 } : {}
    const request = { ...envelope, method: 'initialize', params: degraded }

    expect(schemaErrors(revision, 'InitializeRequest', request, closed)).toEqual([])
  })

  it('leaves the context and the title out of completions before 2025-06-18', () => {
    const params = {
      ref: { type: 'ref/prompt', name: 'p', title: 'P' },
      argument: { name: 'x', value: '1' },
      context: { arguments: { y: '2' } },
    }
    const sent = (revision: Revision) =>
      degradeClientParams('completion/complete', params, facts(revision))

    for (const revision of ['2024-11-05', '2025-03-26'] as const) {
      expect(sent(revision)).toEqual({
        ref: { type: 'ref/prompt', name: 'p' },
        argument: { name: 'x', value: '1' },
      })
    }
    for (const revision of all.slice(2)) expect(sent(revision)).toBe(params)
  })

  it('omits fields of stateless requests in a session', () => {
    const params = {
      name: 'book',
      arguments: { title: 'kept', task: 'kept' },
      inputResponses: {},
      requestState: 'x',
      _meta: {
        progressToken: 1,
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
        'io.modelcontextprotocol/clientInfo': implementation,
        'io.modelcontextprotocol/logLevel': 'info',
      },
    }
    for (const revision of legacy) {
      expect(degradeClientParams('tools/call', params, facts(revision))).toEqual({
        name: 'book',
        arguments: { title: 'kept', task: 'kept' },
        _meta: { progressToken: 1 },
      })
    }
    expect(degradeClientParams('tools/call', params, facts('2026-07-28'))).toBe(params)
  })

  it('requests a task in 2025-11-25 only', () => {
    const params = { name: 'book', task: { ttl: 1 } }
    const asks = all.filter(
      (revision) => 'task' in degradeClientParams('tools/call', params, facts(revision))!,
    )

    expect(asks).toEqual(['2025-11-25'])
  })

  it('gives known params back as the same object, and none as none', () => {
    const params = { name: 'book', arguments: {} }
    for (const revision of all) {
      expect(degradeClientParams('tools/call', params, facts(revision))).toBe(params)
      expect(degradeClientParams('tools/list', undefined, facts(revision))).toBeUndefined()
    }
  })
})
