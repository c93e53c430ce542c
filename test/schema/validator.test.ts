import { describe, expect, it } from 'vitest'
import { checkMessage, schemaErrors } from './validator.ts'

const text = { type: 'text', text: 'hi' }
const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x' } }

describe('schemaErrors', () => {
  it('finds nothing in what the schema allows, and says where a fault is', () => {
    expect(schemaErrors('2025-06-18', 'CallToolResult', { content: [text] })).toEqual([])
    expect(schemaErrors('2025-06-18', 'CallToolResult', {})).toEqual([
      "CallToolResult: must have required property 'content'",
    ])
  })

  it('finds members that the schema does not name when it is asked to', () => {
    const tool = { name: 'x', title: 'X', inputSchema: { type: 'object', $defs: {} } }

    expect(schemaErrors('2025-03-26', 'Tool', tool)).toEqual([])
    expect(schemaErrors('2025-03-26', 'Tool', tool, { closed: true })).toEqual([
      'Tool: must NOT have additional properties "title"',
    ])
    expect(schemaErrors('2025-06-18', 'Tool', tool, { closed: true })).toEqual([])
  })

  it('throws on a definition that does not exist', () => {
    expect(() => schemaErrors('2024-11-05', 'AudioContent', {})).toThrow('no definition')
  })
})

describe('checkMessage', () => {
  it.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const)(
    'accepts a call and its answers in %s',
    (revision) => {
      const result = { jsonrpc: '2.0', id: 1, result: { content: [text] } }
      const error = { jsonrpc: '2.0', id: 1, error: { code: -32602, message: 'No' } }

      expect(checkMessage(revision, 'client-to-server', call)).toEqual([])
      expect(checkMessage(revision, 'server-to-client', result, 'tools/call')).toEqual([])
      expect(checkMessage(revision, 'server-to-client', error, 'tools/call')).toEqual([])
      expect(checkMessage(revision, 'server-to-client', { ...error, id: undefined })).toEqual([])
    },
  )

  it.each([
    ['a request in the wrong direction', '2025-11-25', 'server-to-client', call, undefined],
    [
      'a request to a modern client',
      '2026-07-28',
      'server-to-client',
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'roots/list',
      },
      undefined,
    ],
    [
      'a method of another revision',
      '2025-03-26',
      'server-to-client',
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'elicitation/create',
        params: { message: 'x', requestedSchema: { type: 'object', properties: {} } },
      },
      undefined,
    ],
    ['a modern call without _meta', '2026-07-28', 'client-to-server', call, undefined],
    [
      'a modern result without resultType',
      '2026-07-28',
      'server-to-client',
      {
        jsonrpc: '2.0',
        id: 1,
        result: { content: [] },
      },
      'tools/call',
    ],
    [
      'a wrong result',
      '2025-11-25',
      'server-to-client',
      {
        jsonrpc: '2.0',
        id: 1,
        result: { tools: [{ name: 'x' }] },
      },
      'tools/list',
    ],
    ['a batch', '2025-06-18', 'client-to-server', [call], undefined],
    ['an id of null', '2025-11-25', 'client-to-server', { ...call, id: null }, undefined],
    [
      'error data of the wrong shape',
      '2026-07-28',
      'server-to-client',
      {
        jsonrpc: '2.0',
        id: 1,
        error: { code: -32022, message: 'No', data: {} },
      },
      undefined,
    ],
    ['no object', '2025-11-25', 'client-to-server', 'x', undefined],
  ] as const)('rejects %s', (_, revision, direction, message, method) => {
    expect(checkMessage(revision, direction, message, method)).not.toEqual([])
  })

  it('accepts a batch in 2025-03-26, and the result that asks for input in 2026-07-28', () => {
    const result = { resultType: 'input_required', requestState: 'x' }
    const answer = { jsonrpc: '2.0', id: 1, result }

    expect(checkMessage('2025-03-26', 'client-to-server', [call, call])).toEqual([])
    expect(checkMessage('2026-07-28', 'server-to-client', answer, 'tools/call')).toEqual([])
    expect(checkMessage('2026-07-28', 'server-to-client', answer, 'tools/list')).not.toEqual([])
  })

  it('accepts an empty answer where the method has no result of its own', () => {
    const answer = { jsonrpc: '2.0', id: 1, result: {} }

    expect(checkMessage('2025-11-25', 'server-to-client', answer, 'logging/setLevel')).toEqual([])
    expect(checkMessage('2025-11-25', 'client-to-server', answer, 'ping')).toEqual([])
  })
})
