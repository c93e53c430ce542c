/**
 * Edgewise and both official SDKs as clients of the contract of sessions.
 */
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
} from '@modelcontextprotocol/client'
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport as SseV1 } from '@modelcontextprotocol/sdk/client/sse.js'
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  CreateMessageRequestSchema,
  ListRootsRequestSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import type { Transport as TransportV1 } from '@modelcontextprotocol/sdk/shared/transport.js'

import { stdioClient } from '../../../runtimes/node/index.ts'
import { connect } from '../../../src/presets/client.ts'
import { commandOf, textOf, type Target } from '../contract.ts'
import { place, thought, type SessionClient } from './contract.ts'

const LEGACY = '2025-11-25'
const info = { name: 'peer', version: '1.0.0' }
const capabilities = { sampling: {}, roots: { listChanged: true } }

const said = (about: string) => ({
  role: 'assistant' as const,
  model: 'peer',
  content: { type: 'text' as const, text: about === thought.prompt ? thought.answer : about },
})

/** The requests and notifications that a client received. */
function notes() {
  const received = { sampled: [] as string[], updated: [] as string[], changes: 0 }
  return Object.assign(received, { listChanges: () => received.changes })
}

export async function connectEdgewise(target: Target): Promise<SessionClient> {
  const received = notes()
  const client = await connect('url' in target ? target.url : stdioClient(commandOf(target)), {
    info,
    revision: LEGACY,
    roots: [place],
    onSample({ messages }) {
      const about = textOf([messages[0]?.content].flat()[0])
      received.sampled.push(about)
      return said(about)
    },
    onResourceUpdated: (uri) => void received.updated.push(uri),
    onToolsChanged: () => void received.changes++,
  })
  return {
    ...received,
    listChanges: received.listChanges,
    revision: client.revision,
    callTool: async (name, signal) =>
      textOf((await client.callTool(name, {}, { signal })).content[0]),
    watchTool: async (name, onProgress) =>
      textOf((await client.callTool(name, {}, { onProgress })).content[0]),
    listTools: async () => (await client.listAllTools()).map(({ name }) => name),
    subscribe: (uri) => client.subscribe(uri),
    unsubscribe: (uri) => client.unsubscribe(uri),
    [Symbol.asyncDispose]: () => client.close(),
  }
}

/** The v1 client over HTTP+SSE. */
export function connectSseV1(target: Target): Promise<SessionClient> {
  if (!('url' in target)) throw new TypeError('HTTP+SSE needs a URL')
  return connectV1(target, new SseV1(new URL(target.url)))
}

export async function connectV1(target: Target, sse?: SseV1): Promise<SessionClient> {
  const received = notes()
  const client = new ClientV1(info, { capabilities })
  client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => {
    const about = textOf([params.messages[0]?.content].flat()[0])
    received.sampled.push(about)
    return said(about)
  })
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [place] }))
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
    received.updated.push(params.uri)
  })
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void received.changes++)
  const http = 'url' in target && !sse ? new HttpV1(new URL(target.url)) : undefined
  const transport: TransportV1 = http ?? sse ?? new StdioV1(commandOf(target))
  await client.connect(transport)
  return {
    ...received,
    listChanges: received.listChanges,
    revision: http ? http.protocolVersion : LEGACY,
    async callTool(name, signal) {
      const { content } = await client.callTool({ name }, undefined, signal && { signal })
      return textOf(Array.isArray(content) && content[0])
    },
    async watchTool(name, onprogress) {
      const { content } = await client.callTool({ name }, undefined, { onprogress })
      return textOf(Array.isArray(content) && content[0])
    },
    listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
    subscribe: async (uri) => void (await client.subscribeResource({ uri })),
    unsubscribe: async (uri) => void (await client.unsubscribeResource({ uri })),
    async [Symbol.asyncDispose]() {
      await http?.terminateSession()
      await client.close()
    },
  }
}

export async function connectV2(target: Target): Promise<SessionClient> {
  const received = notes()
  const client = new ClientV2(info, { capabilities, versionNegotiation: { mode: 'legacy' } })
  client.setRequestHandler('sampling/createMessage', ({ params }) => {
    const about = textOf([params.messages[0]?.content].flat()[0])
    received.sampled.push(about)
    return said(about)
  })
  client.setRequestHandler('roots/list', () => ({ roots: [place] }))
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
    received.updated.push(params.uri)
  })
  client.setNotificationHandler('notifications/tools/list_changed', () => void received.changes++)
  const http = 'url' in target ? new HttpV2(new URL(target.url)) : undefined
  await client.connect(http ?? new StdioV2(commandOf(target)))
  return {
    ...received,
    listChanges: received.listChanges,
    revision: client.getNegotiatedProtocolVersion(),
    async callTool(name, signal) {
      return textOf((await client.callTool({ name }, signal && { signal })).content[0])
    },
    async watchTool(name, onprogress) {
      return textOf((await client.callTool({ name }, { onprogress })).content[0])
    },
    listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
    subscribe: async (uri) => void (await client.subscribeResource({ uri })),
    unsubscribe: async (uri) => void (await client.unsubscribeResource({ uri })),
    async [Symbol.asyncDispose]() {
      await http?.terminateSession()
      await client.close()
    },
  }
}
