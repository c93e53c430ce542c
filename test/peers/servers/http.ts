/**
 * Listening hosts for the official servers: sessions for the legacy era, and v2's own handler for
 * the modern one.
 */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'

import { toNodeHandler } from '@modelcontextprotocol/node'
import type { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js'
import {
  StreamableHTTPServerTransport,
  type StreamableHTTPServerTransportOptions,
} from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
  type McpServer as McpServerV2,
  type WebStandardStreamableHTTPServerTransportOptions,
} from '@modelcontextprotocol/server'

import { createV1Server } from './v1.ts'
import { createV2Server } from './v2.ts'

/** A server that listens until it is disposed. */
export interface Listening extends AsyncDisposable {
  readonly url: string
}

type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/** Serves the contract built with SDK v1, with sessions. */
export function listenV1(): Promise<Listening> {
  return listen(sessionsV1(createV1Server))
}

/**
 * Sessions of servers that are built with SDK v1.
 *
 * @param more Further options of each session's transport.
 */
export function sessionsV1(
  create: () => McpServerV1,
  more: () => StreamableHTTPServerTransportOptions = () => ({}),
): Handle {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const open = async (): Promise<StreamableHTTPServerTransport> => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
      ...more(),
    })
    await create().connect(transport)
    return transport
  }
  return async (request, response) => {
    const known = sessions.get(String(request.headers['mcp-session-id']))
    await (known ?? (await open())).handleRequest(request, response)
  }
}

/** Serves the contract built with SDK v2: the modern era only. */
export function listenModernV2(): Promise<Listening> {
  const { fetch } = createMcpHandler(createV2Server, { legacy: 'reject' })
  return listenByFetch((request) => fetch(request))
}

/** Serves the contract built with SDK v2: both eras at one URL, the legacy one with sessions. */
export function listenV2(): Promise<Listening> {
  const modern = createMcpHandler(createV2Server, { legacy: 'reject' })
  const legacy = sessionsV2(createV2Server)
  return listenByFetch(async (request) => {
    return (await isLegacyRequest(request)) ? legacy(request) : modern.fetch(request)
  })
}

/**
 * Sessions of servers that are built with SDK v2.
 *
 * @param more Further options of each session's transport.
 */
export function sessionsV2(
  create: () => McpServerV2,
  more: () => WebStandardStreamableHTTPServerTransportOptions = () => ({}),
): (request: Request) => Promise<Response> {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()
  const open = async (): Promise<WebStandardStreamableHTTPServerTransport> => {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
      ...more(),
    })
    await create().connect(transport)
    return transport
  }
  return async (request) => {
    const known = sessions.get(String(request.headers.get('mcp-session-id')))
    return (known ?? (await open())).handleRequest(request)
  }
}

/** Listens with a function from request to response, by the official adapter for Node. */
export function listenByFetch(fetch: (request: Request) => Promise<Response>): Promise<Listening> {
  const handle = toNodeHandler({ fetch })
  return listen((request, response) => {
    const { method = 'GET', url = '/' } = request
    return handle(Object.assign(request, { method, url }), response)
  })
}

/** Listens on a free port of the loopback interface. */
export async function listen(handle: Handle): Promise<Listening> {
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : new Error(String(error)))
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  if (!address || typeof address === 'string') throw new Error('The server has no port')
  return {
    url: `http://127.0.0.1:${address.port}/mcp`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}
