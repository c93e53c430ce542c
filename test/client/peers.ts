/**
 * What scripted servers say in tests of the client.
 */
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { ScriptedPeer as DuplexPeer } from '../../src/testing/scripted-peer.ts'
import type {
  ScriptedFetch as HttpPeer,
  ScriptedRequest,
} from '../../src/testing/scripted-fetch.ts'
import { connect, type Client, type ConnectOptions } from '../../src/presets/client.ts'
import type { JsonObject } from '../../src/protocol/types.ts'
import {
  scriptedEvents as eventStream,
  scriptedFetch as httpPeer,
} from '../../src/testing/index.ts'

export {
  scriptedEvents as eventStream,
  scriptedFetch as httpPeer,
  scriptedPeer as duplexPeer,
} from '../../src/testing/index.ts'
export type { ScriptedEvents as EventStream } from '../../src/testing/scripted-fetch.ts'
export type { ScriptedFetch as HttpPeer } from '../../src/testing/scripted-fetch.ts'
export type { ScriptedPeer as DuplexPeer } from '../../src/testing/scripted-peer.ts'
export type { ScriptedRequest } from '../../src/testing/scripted-fetch.ts'
import { PATIENCE } from '../patience.ts'

/** A JSON response. */
export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  })
}

/** A result as JSON. */
export function result(
  request: ScriptedRequest,
  body: JsonObject,
  headers?: Record<string, string>,
): Response {
  return json({ jsonrpc: '2.0', id: request.message.id, result: body }, 200, headers)
}

/** An error as JSON. */
export function error(
  request: ScriptedRequest,
  code: number,
  status = 200,
  data?: unknown,
): Response {
  const body = { code, message: `error ${code}`, ...(data !== undefined && { data }) }
  return json({ jsonrpc: '2.0', id: request.message.id, error: body }, status)
}

const serverInfo = { name: 'peer', version: '1' }

/** The result of `server/discover`. */
export function discovered(capabilities: JsonObject = everything): JsonObject {
  return {
    resultType: 'complete',
    supportedVersions: ['2026-07-28'],
    capabilities,
    ttlMs: 0,
    cacheScope: 'private',
    _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo },
  }
}

/** The result of `initialize`. */
export function initialized(
  version = '2025-11-25',
  capabilities: JsonObject = everything,
): JsonObject {
  return { protocolVersion: version, capabilities, serverInfo, instructions: 'Be kind' }
}

/** Every capability of a server. */
export const everything: JsonObject = {
  tools: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
}

/** A server of 2026-07-28 behind `fetch`: answers `server/discover`, a script the rest. */
export function modernPeer(
  answer: (request: ScriptedRequest) => Response | Promise<Response>,
  capabilities?: JsonObject,
): HttpPeer {
  return httpPeer((request) =>
    request.message.method === 'server/discover'
      ? result(request, discovered(capabilities))
      : answer(request),
  )
}

/** A server with sessions behind `fetch`: does the handshake, a script the rest. */
export function legacyPeer(
  answer: (request: ScriptedRequest) => Response | Promise<Response>,
  { version = '2025-11-25', session = 's1', capabilities = everything } = {},
): HttpPeer {
  return httpPeer((request) => {
    const { method } = request.message
    if (method === 'server/discover') return error(request, -32600, 400)
    if (method === 'initialize') {
      return result(
        request,
        initialized(version, capabilities),
        session ? { 'Mcp-Session-Id': session } : {},
      )
    }
    if (request.method === 'POST' && (method?.startsWith('notifications/') || !method)) {
      return new Response(null, { status: 202 })
    }
    if (request.method === 'DELETE') return new Response(null, { status: 204 })
    return request.method === 'GET' ? new Response(null, { status: 405 }) : answer(request)
  })
}

/** A server of 2024-11-05 behind `fetch`, which speaks only HTTP+SSE; calls give one text. */
export function oldestPeer(): HttpPeer {
  const stream = eventStream()
  return httpPeer((request) => {
    if (request.method === 'GET') {
      stream.write('event: endpoint\ndata: /messages?s=1\n\n')
      return stream.response
    }
    if (!request.url.includes('/messages')) return new Response(null, { status: 405 })
    const { id, method } = request.message
    const content = [{ type: 'text', text: 'hi' }]
    const body = method === 'initialize' ? initialized('2024-11-05') : { content }
    if (id !== undefined) stream.event({ jsonrpc: '2.0', id, result: body })
    return new Response(null, { status: 202 })
  })
}

/** The answer to a request over a transport. */
export function reply(message: JsonObject, body: JsonObject): JsonObject {
  return { jsonrpc: '2.0', id: message.id, result: body }
}

/** The failure of a request over a transport. */
export function refuse(message: JsonObject, code: number, data?: unknown): JsonObject {
  const body = { code, message: `error ${code}`, ...(data !== undefined && { data }) }
  return { jsonrpc: '2.0', id: message.id, error: body }
}

/** Connects with a version cache of its own. */
export function connectTo(
  peer: HttpPeer | DuplexPeer,
  options: ConnectOptions = {},
): Promise<Client> {
  const all = { versionCache: new Map(), ...options }
  return 'transport' in peer
    ? connect(peer.transport, all)
    : connect('https://peer.example/mcp', { fetch: peer.fetch, ...all })
}

/** Turns of the event loop within which most conditions come true. */
const QUICK_TURNS = 50

/** Waits for a condition, independent of the timers that a test has replaced. */
export async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; !condition(); turn++) {
    if (turn > QUICK_TURNS + PATIENCE.timeout) throw new Error('It never came true')
    await (turn < QUICK_TURNS ? setImmediate() : sleep(1))
  }
}
