/**
 * The servers of all SDKs that need no other program, with their default options.
 */
import { createHandler, statefulSessions } from '../../../src/presets/server.ts'
import type { ProbedServer } from '../probes.ts'
import { createPeerServer } from './edgewise.ts'
import { listenV1, listenV2, type Listening } from './http.ts'
import { serveMcpLite } from './mcp-lite.ts'
import { serveTmcp } from './tmcp.ts'

/** A server that runs until it is disposed. */
export type StartedServer = ProbedServer & AsyncDisposable

/** Starts each server, by the name of its SDK. */
export const probedServers: Readonly<Record<string, () => Promise<StartedServer>>> = {
  Edgewise: () => inProcess(createHandler(createPeerServer(), { sessions: statefulSessions() })),
  'official SDK v1': () => listening(listenV1()),
  'official SDK v2': () => listening(listenV2()),
  'mcp-lite': () => inProcess(serveMcpLite(true)),
  tmcp: () => inProcess(serveTmcp()),
}

async function inProcess(fetch: ProbedServer['fetch']): Promise<StartedServer> {
  return { url: 'http://localhost/mcp', fetch, async [Symbol.asyncDispose]() {} }
}

async function listening(starting: Promise<Listening>): Promise<StartedServer> {
  const server = await starting
  return {
    url: server.url,
    fetch: (request) => fetch(request),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}
