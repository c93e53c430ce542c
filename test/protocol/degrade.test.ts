import { describe, expect, it } from 'vitest'
import {
  degradeNotification,
  degradeResult,
  degradeServerCapabilities,
} from '../../src/protocol/degrade.ts'
import { degradeImplementation } from '../../src/protocol/degrade-meta.ts'
import { restoreContent } from '../../src/protocol/degrade-form.ts'
import { degradeRequest } from '../../src/protocol/degrade-request.ts'
import { findRevision, type Revision } from '../../src/protocol/revisions.ts'
import type { ContentBlock, ObjectSchema, Result } from '../../src/protocol/types.ts'
import { schemaErrors } from '../schema/validator.ts'
import {
  contents,
  formParams,
  implementation,
  results,
  samplingParams,
  serverCapabilities,
  tool,
} from './rich.ts'

const facts = (version: Revision) => findRevision(version)!
const legacy: Revision[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']
const all: Revision[] = [...legacy, '2026-07-28']
const closed = { closed: true }

const callWith = (result: Result, revision: Revision) =>
  degradeResult('tools/call', result, facts(revision))
const contentIn = (revision: Revision, type: ContentBlock['type']) => {
  const content = contents.filter((block) => block.type === type)
  return callWith({ content }, revision).content
}

describe('degradeResult', () => {
  describe.each(all)('to %s', (revision) => {
    it.each(Object.entries(results))(
      'leaves nothing in a %s result that the schema lacks [L-LIFE-015]',
      (method, { definition, result }) => {
        const degraded = degradeResult(method, result, facts(revision))

        expect(schemaErrors(revision, definition, degraded, closed)).toEqual([])
      },
    )
  })

  it.each(Object.entries(results))(
    'gives a %s result of 2025-11-25 back as the same object',
    (method, { result }) => {
      const { resultType: _, ttlMs: __, cacheScope: ___, _meta: ____, ...plain } = result
      const known = method === 'tools/list' ? { tools: [tool] } : plain

      expect(degradeResult(method, known, facts('2025-11-25'))).toBe(known)
    },
  )

  it.each(Object.entries(results))(
    'gives a %s result of 2026-07-28 back as the same object',
    (method, { result }) => {
      const { execution: _, ...modernTool } = tool
      const known = method === 'tools/list' ? { ...result, tools: [modernTool] } : result

      expect(degradeResult(method, known, facts('2026-07-28'))).toBe(known)
    },
  )

  it.each(legacy)('keeps _meta of the application in %s [L-COM-007]', (revision) => {
    const { result } = results['tools/call']!

    expect(callWith(result, revision)._meta).toEqual({ 'com.example/key': 1 })
  })

  it('leaves _meta out when nothing remains of it', () => {
    const result = { content: [], _meta: { 'io.modelcontextprotocol/serverInfo': implementation } }

    expect(callWith(result, '2025-11-25')).toEqual({ content: [] })
  })

  it('turns audio into an embedded resource for 2024-11-05 [L-LIFE-015]', () => {
    expect(contentIn('2024-11-05', 'audio')).toEqual([
      {
        type: 'resource',
        resource: { uri: 'about:audio', mimeType: 'audio/wav', blob: 'AAAA' },
        annotations: { audience: ['user'], priority: 0.5 },
      },
    ])
    expect(contentIn('2025-03-26', 'audio')).toMatchObject([{ type: 'audio', data: 'AAAA' }])
  })

  it.each(['2024-11-05', '2025-03-26'] as const)(
    'turns a resource_link into text with its URI for %s [L-LIFE-015]',
    (revision) => {
      expect(contentIn(revision, 'resource_link')).toEqual([
        {
          type: 'text',
          text: '[Resource File A: file:///a] The file',
          annotations: { audience: ['user'], priority: 0.5 },
        },
      ])
    },
  )

  it('keeps every block in its place', () => {
    expect(callWith({ content: contents }, '2024-11-05').content).toHaveLength(contents.length)
  })

  it.each(['2024-11-05', '2025-03-26'] as const)(
    'repeats structured content as text for %s if there is no other content',
    (revision) => {
      const structuredContent = { reference: 'x' }
      const text = { type: 'text', text: 'Booked' }

      expect(callWith({ content: [], structuredContent }, revision)).toEqual({
        content: [{ type: 'text', text: '{"reference":"x"}' }],
      })
      expect(callWith({ content: [text], structuredContent }, revision)).toEqual({
        content: [text],
      })
    },
  )

  it.each(['2025-06-18', '2025-11-25'] as const)(
    'keeps structured content that is an object, and only that, in %s',
    (revision) => {
      for (const structuredContent of [[1], 'x', 7, null]) {
        expect(callWith({ content: [], structuredContent }, revision)).toEqual({
          content: [{ type: 'text', text: JSON.stringify(structuredContent) }],
        })
      }
      expect(callWith({ content: [], structuredContent: {} }, revision)).toEqual({
        content: [],
        structuredContent: {},
      })
    },
  )

  it('keeps any structured content in 2026-07-28', () => {
    const result = { resultType: 'complete', content: [], structuredContent: [1] }

    expect(callWith(result, '2026-07-28')).toBe(result)
  })

  it('omits output schemas whose root is not an object before 2026-07-28', () => {
    const { execution: _, ...plain } = tool
    const result = { tools: [{ ...plain, outputSchema: { type: 'array', items: {} } }] }
    const listed = (revision: Revision) => {
      const degraded = degradeResult('tools/list', result, facts(revision))
      return JSON.stringify(degraded).includes('"outputSchema"')
    }

    expect(all.filter(listed)).toEqual(['2026-07-28'])
  })

  it('shows the title of a tool in its annotations for 2025-03-26 [L-COM-021]', () => {
    const shown = (annotations: object) =>
      degradeResult('tools/list', { tools: [{ ...tool, annotations }] }, facts('2025-03-26'))

    expect(shown({})).toMatchObject({ tools: [{ annotations: { title: 'Book a trip' } }] })
    expect(shown({ title: 'Own' })).toMatchObject({ tools: [{ annotations: { title: 'Own' } }] })
  })

  it('writes booleans as objects where a session knows no boolean schemas', () => {
    const schema = {
      type: 'object' as const,
      properties: { any: true, none: false, ['__proto__']: {} },
    }
    const result = { tools: [{ name: 'x', inputSchema: schema, outputSchema: schema }] }

    for (const revision of legacy) {
      const degraded = degradeResult('tools/list', result, facts(revision))
      expect(schemaErrors(revision, 'ListToolsResult', degraded)).toEqual([])
      expect(degraded.tools).toMatchObject([
        { inputSchema: { properties: { any: {}, none: { not: {} }, ['__proto__']: {} } } },
      ])
    }
    expect(degradeResult('tools/list', result, facts('2026-07-28'))).toBe(result)
  })

  it('keeps every keyword of an input schema [M-BASE-062]', () => {
    const inputSchema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object' as const,
      title: 'T',
      $defs: { a: { type: 'string', title: 'A' } },
      properties: { title: { $ref: '#/$defs/a' }, icons: { type: 'array' } },
      additionalProperties: false,
      if: {},
    }
    for (const revision of all) {
      const result = { tools: [{ name: 'x', inputSchema }] }
      expect(degradeResult('tools/list', result, facts(revision))).toEqual(result)
    }
  })

  it.each(all)('passes results without the usual members through in %s', (revision) => {
    const tasks = { task: { taskId: '1' } }

    expect(callWith(tasks, revision)).toEqual(tasks)
    for (const method of Object.keys(results)) {
      expect(degradeResult(method, {}, facts(revision))).toEqual({})
    }
    expect(degradeResult('com.example/own', { title: 'x' }, facts(revision))).toEqual({
      title: 'x',
    })
  })
})

describe('degradeImplementation', () => {
  it.each(all)('leaves nothing that %s lacks', (revision) => {
    const degraded = degradeImplementation(implementation, facts(revision))

    expect(schemaErrors(revision, 'Implementation', degraded, closed)).toEqual([])
    expect(degraded).toMatchObject({ name: 'travel', version: '1.0.0' })
  })

  it('keeps the title since 2025-06-18 and all since 2025-11-25', () => {
    expect(degradeImplementation(implementation, facts('2025-06-18'))).toEqual({
      name: 'travel',
      version: '1.0.0',
      title: 'Travel',
    })
    expect(degradeImplementation(implementation, facts('2025-11-25'))).toBe(implementation)
  })
})

describe('degradeServerCapabilities', () => {
  it.each(all)('leaves nothing that %s lacks', (revision) => {
    const degraded = degradeServerCapabilities(serverCapabilities, facts(revision))

    expect(schemaErrors(revision, 'ServerCapabilities', degraded, closed)).toEqual([])
    expect(degraded).toHaveProperty('resources.subscribe', true)
  })

  it('keeps entries that no revision names, extensions included [M-BASE-064]', () => {
    const capabilities = { custom: { x: 1 }, extensions: { 'com.example/x': {} } }
    for (const revision of all) {
      expect(degradeServerCapabilities(capabilities, facts(revision))).toEqual(capabilities)
    }
  })
})

describe('degradeNotification and degradeRequest', () => {
  const elicitation: Revision[] = ['2025-06-18', '2025-11-25', '2026-07-28']
  const form = (revision: Revision) =>
    degradeRequest('elicitation/create', formParams, facts(revision)) as {
      requestedSchema: { properties: Record<string, unknown> }
    }

  it('leave undefined params alone', () => {
    expect(degradeRequest('roots/list', undefined, facts('2024-11-05'))).toBeUndefined()
  })

  it('leaves the message of progress out before 2025-03-26', () => {
    const params = { progressToken: 1, progress: 1, total: 2, message: 'half' }
    const sent = (revision: Revision) =>
      degradeNotification('notifications/progress', params, facts(revision))

    expect(sent('2024-11-05')).toEqual({ progressToken: 1, progress: 1, total: 2 })
    for (const revision of all.slice(1)) expect(sent(revision)).toBe(params)
  })

  it('leaves modern _meta keys out of legacy notifications', () => {
    const params = {
      uri: 'file:///a',
      _meta: { 'io.modelcontextprotocol/subscriptionId': 1, 'com.example/key': 2 },
    }
    const sent = (revision: Revision) =>
      degradeNotification('notifications/resources/updated', params, facts(revision))

    for (const revision of legacy) {
      expect(sent(revision)).toEqual({ uri: 'file:///a', _meta: { 'com.example/key': 2 } })
    }
    expect(sent('2026-07-28')).toBe(params)
  })

  it.each(elicitation)('leaves nothing in a form that %s lacks', (revision) => {
    const request = { method: 'elicitation/create', params: form(revision) }
    const envelope = revision === '2025-11-25' ? { jsonrpc: '2.0', id: 1 } : {}
    const definition = 'ElicitRequest'

    expect(schemaErrors(revision, definition, { ...envelope, ...request }, closed)).toEqual([])
  })

  it('gives the form back as the same object since 2025-11-25', () => {
    expect(form('2025-11-25')).toBe(formParams)
    expect(form('2026-07-28')).toBe(formParams)
  })

  it('writes titled options as enum and enumNames for 2025-06-18', () => {
    const { properties } = form('2025-06-18').requestedSchema

    expect(properties).toEqual({
      city: { type: 'string', title: 'City', minLength: 1, maxLength: 9 },
      mail: { type: 'string', format: 'email', description: 'Yours' },
      nights: { type: 'integer', minimum: 1, maximum: 9 },
      price: { type: 'number' },
      breakfast: { type: 'boolean', default: true },
      plain: { type: 'string', enum: ['a', 'b'] },
      old: { type: 'string', enum: ['a', 'b'], enumNames: ['A', 'B'] },
      titled: { type: 'string', title: 'Size', enum: ['s', 'l'], enumNames: ['Small', 'Large'] },
      several: { type: 'string', title: 'Days', enum: ['mo', 'tu'] },
      severalTitled: { type: 'string', enum: ['mo', 'tu'], enumNames: ['Monday', 'Tuesday'] },
    })
  })

  it('keeps fields whose names are those of members', () => {
    const properties = { ['__proto__']: { type: 'string' }, default: { type: 'string' } }
    const params = { message: 'x', requestedSchema: { type: 'object', properties } }

    expect(degradeRequest('elicitation/create', params, facts('2025-06-18'))).toEqual(params)
  })

  it('leaves the id of a URL elicitation out in 2026-07-28 only', () => {
    const params = { mode: 'url', message: 'x', url: 'https://example.com', elicitationId: '1' }

    expect(degradeRequest('elicitation/create', params, facts('2025-11-25'))).toBe(params)
    expect(degradeRequest('elicitation/create', params, facts('2026-07-28'))).toEqual({
      mode: 'url',
      message: 'x',
      url: 'https://example.com',
    })
  })

  it.each(all)('leaves nothing in a sampling request that %s lacks', (revision) => {
    const params = degradeRequest('sampling/createMessage', samplingParams, facts(revision))
    const envelope = revision === '2025-11-25' ? { jsonrpc: '2.0', id: 1 } : {}
    const request = { ...envelope, method: 'sampling/createMessage', params }

    expect(schemaErrors(revision, 'CreateMessageRequest', request, closed)).toEqual([])
  })

  it('makes one message of each block before 2025-11-25 and keeps the roles', () => {
    const { messages } = degradeRequest(
      'sampling/createMessage',
      samplingParams,
      facts('2025-06-18'),
    ) as {
      messages: { role: string; content: { type: string; text?: string } }[]
    }

    expect(messages.map(({ role, content }) => `${role} ${content.text ?? content.type}`)).toEqual([
      'user hi',
      'user look and listen',
      'user image',
      'user audio',
      'assistant [Tool call call 1: weather {"city":"Oslo"}]',
      'user [Tool result of call 1]',
      'user hello',
      'user image',
      'user audio',
      'user [Resource File A: file:///a] The file',
      'user {"uri":"file:///b","mimeType":"text/plain","text":"b","_meta":{"com.example/key":1}}',
      'user {"uri":"file:///c","blob":"AAAA","_meta":{"com.example/key":1}}',
    ])
  })

  it('gives sampling params back as the same object since 2025-11-25', () => {
    const { tools: _, ...params } = samplingParams

    for (const revision of ['2025-11-25', '2026-07-28'] as const) {
      expect(degradeRequest('sampling/createMessage', params, facts(revision))).toBe(params)
    }
  })
})

describe('restoreContent', () => {
  const form = formParams.requestedSchema as ObjectSchema

  it('makes a list of a single choice where the form has several', () => {
    const content = { several: 'mo', severalTitled: 'tu', titled: 's', nights: 2, other: 'x' }

    expect(restoreContent(form, content)).toEqual({
      several: ['mo'],
      severalTitled: ['tu'],
      titled: 's',
      nights: 2,
      other: 'x',
    })
  })

  it('leaves everything else as it came', () => {
    const hostile = JSON.parse('{"__proto__":"x","constructor":"y"}') as object

    expect(restoreContent(form, { several: ['mo', 'tu'] })).toEqual({ several: ['mo', 'tu'] })
    expect(JSON.stringify(restoreContent(form, hostile))).toBe(JSON.stringify(hostile))
    for (const content of [undefined, null, 'x', ['x']]) {
      expect(restoreContent(form, content)).toBe(content)
    }
  })
})
