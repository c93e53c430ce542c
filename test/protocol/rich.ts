/** Messages with every member that any revision has, frozen so that no adapter can write to them. */
import type {
  ClientCapabilities,
  ContentBlock,
  Implementation,
  ServerCapabilities,
  Tool,
  JsonObject,
} from '../../src/protocol/types.ts'

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(freeze)
  return Object.freeze(value)
}

const icons = [{ src: 'https://example.com/i.png', mimeType: 'image/png', sizes: ['48x48'] }]
const _meta = { 'com.example/key': 1 }
const annotations = {
  audience: ['user' as const],
  priority: 0.5,
  lastModified: '2026-01-01T00:00:00Z',
}

export const implementation: Implementation = freeze({
  name: 'travel',
  version: '1.0.0',
  title: 'Travel',
  description: 'Books trips',
  websiteUrl: 'https://example.com',
  icons,
})

export const contents: ContentBlock[] = freeze([
  { type: 'text', text: 'hello', annotations, _meta },
  { type: 'image', data: 'AAAA', mimeType: 'image/png', annotations, _meta },
  { type: 'audio', data: 'AAAA', mimeType: 'audio/wav', annotations, _meta },
  {
    type: 'resource_link',
    uri: 'file:///a',
    name: 'a',
    title: 'File A',
    description: 'The file',
    mimeType: 'text/plain',
    size: 3,
    icons,
    annotations,
    _meta,
  },
  {
    type: 'resource',
    resource: { uri: 'file:///b', mimeType: 'text/plain', text: 'b', _meta },
    annotations,
    _meta,
  },
  { type: 'resource', resource: { uri: 'file:///c', blob: 'AAAA', _meta } },
])

export const tool: Tool = freeze({
  name: 'book',
  title: 'Book a trip',
  description: 'Books',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  outputSchema: { type: 'object', properties: { reference: { type: 'string' } } },
  annotations: { readOnlyHint: true, openWorldHint: false },
  execution: { taskSupport: 'optional' },
  icons,
  _meta,
})

const modern = {
  resultType: 'complete',
  _meta: { 'com.example/key': 1, 'io.modelcontextprotocol/serverInfo': implementation },
}
const cached = { ...modern, ttlMs: 60_000, cacheScope: 'public' as const }

const resource = {
  name: 'a',
  title: 'A',
  description: 'File',
  mimeType: 'text/plain',
  icons,
  annotations,
  _meta,
}

/** Results by method, with the definition that each must fit. */
export const results: Record<string, { definition: string; result: JsonObject }> = freeze({
  'tools/list': {
    definition: 'ListToolsResult',
    result: { ...cached, tools: [tool], nextCursor: 'next' },
  },
  'tools/call': {
    definition: 'CallToolResult',
    result: { ...modern, content: contents, structuredContent: { reference: 'x' }, isError: false },
  },
  'resources/list': {
    definition: 'ListResourcesResult',
    result: { ...cached, resources: [{ ...resource, uri: 'file:///a', size: 3 }] },
  },
  'resources/templates/list': {
    definition: 'ListResourceTemplatesResult',
    result: { ...cached, resourceTemplates: [{ ...resource, uriTemplate: 'file:///{a}' }] },
  },
  'resources/read': {
    definition: 'ReadResourceResult',
    result: {
      ...cached,
      contents: [
        { uri: 'file:///a', mimeType: 'text/plain', text: 'a', _meta },
        { uri: 'file:///b', blob: 'AAAA', _meta },
      ],
    },
  },
  'prompts/list': {
    definition: 'ListPromptsResult',
    result: {
      ...cached,
      prompts: [
        {
          name: 'p',
          title: 'P',
          description: 'Prompt',
          arguments: [{ name: 'x', title: 'X', description: 'An x', required: true }],
          icons,
          _meta,
        },
      ],
    },
  },
  'prompts/get': {
    definition: 'GetPromptResult',
    result: {
      ...modern,
      description: 'Prompt',
      messages: contents.map((content) => ({ role: 'user', content })),
    },
  },
  'completion/complete': {
    definition: 'CompleteResult',
    result: { ...modern, completion: { values: ['a'], total: 1, hasMore: false } },
  },
})

export const serverCapabilities: ServerCapabilities = freeze({
  experimental: { x: {} },
  logging: {},
  completions: {},
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  tools: { listChanged: true },
  tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
})

export const clientCapabilities: ClientCapabilities = freeze({
  experimental: { x: {} },
  roots: { listChanged: true },
  sampling: { context: {}, tools: {} },
  elicitation: { form: {}, url: {} },
  tasks: { list: {}, cancel: {}, requests: { elicitation: { create: {} } } },
})

export const formParams: JsonObject = freeze({
  mode: 'form',
  message: 'Where to?',
  _meta,
  requestedSchema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      city: { type: 'string', title: 'City', minLength: 1, maxLength: 9, default: 'Oslo' },
      mail: { type: 'string', format: 'email', description: 'Yours' },
      nights: { type: 'integer', minimum: 1, maximum: 9, default: 2 },
      price: { type: 'number', default: 1.5 },
      breakfast: { type: 'boolean', default: true },
      plain: { type: 'string', enum: ['a', 'b'], default: 'a' },
      old: { type: 'string', enum: ['a', 'b'], enumNames: ['A', 'B'], default: 'a' },
      titled: {
        type: 'string',
        title: 'Size',
        oneOf: [
          { const: 's', title: 'Small' },
          { const: 'l', title: 'Large' },
        ],
        default: 's',
      },
      several: {
        type: 'array',
        title: 'Days',
        items: { type: 'string', enum: ['mo', 'tu'] },
        minItems: 1,
        maxItems: 2,
        default: ['mo'],
      },
      severalTitled: {
        type: 'array',
        items: {
          anyOf: [
            { const: 'mo', title: 'Monday' },
            { const: 'tu', title: 'Tuesday' },
          ],
        },
        default: ['mo'],
      },
    },
    required: ['city'],
  },
})

export const samplingParams: JsonObject = freeze({
  messages: [
    { role: 'user', content: { type: 'text', text: 'hi', annotations, _meta }, _meta },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'look and listen' },
        { type: 'image', data: 'AAAA', mimeType: 'image/png', annotations, _meta },
        { type: 'audio', data: 'AAAA', mimeType: 'audio/wav', annotations, _meta },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'tool_use', id: 'call 1', name: 'weather', input: { city: 'Oslo' }, _meta },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', toolUseId: 'call 1', content: contents, isError: false, _meta },
      ],
    },
  ],
  maxTokens: 100,
  modelPreferences: { hints: [{ name: 'small' }], costPriority: 1 },
  systemPrompt: 'Be brief',
  includeContext: 'none',
  temperature: 0.5,
  stopSequences: ['.'],
  metadata: {},
  tools: [tool],
  toolChoice: { mode: 'auto' },
})
