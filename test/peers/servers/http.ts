/**
 * Listening hosts for the official servers: sessions for the legacy era, and v2's own handler for
 * the modern one.
 */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'

import { toNodeHandler } from '@modelcontextprotocol/node'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
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
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const open = async (): Promise<StreamableHTTPServerTransport> => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
    })
    await createV1Server().connect(transport)
    return transport
  }
  return listen(async (request, response) => {
    const known = sessions.get(String(request.headers['mcp-session-id']))
    await (known ?? (await open())).handleRequest(request, response)
  })
}

/** Serves the contract built with SDK v2: the modern era only. */
export function listenModernV2(): Promise<Listening> {
  const handle = toNodeHandler(createMcpHandler(createV2Server, { legacy: 'reject' }))
  return listen((request, response) => {
    const { method = 'GET', url = '/' } = request
    return handle(Object.assign(request, { method, url }), response)
  })
}

/** Serves the contract built with SDK v2: both eras at one URL, the legacy one with sessions. */
export function listenV2(): Promise<Listening> {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()
  const open = async (): Promise<WebStandardStreamableHTTPServerTransport> => {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
    })
    await createV2Server().connect(transport)
    return transport
  }
  const modern = createMcpHandler(createV2Server, { legacy: 'reject' })
  const handle = toNodeHandler({
    async fetch(request) {
      if (!(await isLegacyRequest(request))) return modern.fetch(request)
      const known = sessions.get(String(request.headers.get('mcp-session-id')))
      return (known ?? (await open())).handleRequest(request)
    },
  })
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
