// Three independent clients: the official SDK in its second and first major
// version, and Edgewise. Each answers the same questions in the same way.
import { Client as ClientV2, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioClientTransportV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as HttpClientTransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport as TransportV1 } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import type { Revision } from 'edgewise'
import { connect } from 'edgewise/client'
import { stdioClient } from 'edgewise/node'

/** Where the server is: a URL, or a program to start. */
export type Target = string | { command: string; args: string[] }

/** The methods of a client that this example needs. Each call returns the text of the result. */
export interface Caller {
  /** The server's questions, in order. */
  readonly asked: readonly string[]
  callTool(name: string, args: Record<string, string>): Promise<string>
  getPrompt(name: string, args: Record<string, string>): Promise<string>
  readResource(uri: string): Promise<string>
  close(): Promise<void>
}

/** Connects a client to a server. */
export type Open = (target: Target) => Promise<Caller>

const info = { name: 'traveller', version: '1.0.0' }
const capabilities = { elicitation: {}, sampling: {}, roots: {} }
const roots = [{ uri: 'file:///trips', name: 'trips' }]

/** The answers that every client gives to the server's questions. */
function answers(asked: string[]) {
  return {
    elicit: ({ message }: { message: string }) => {
      asked.push(message)
      const content = { nights: 2, confirm: true, name: 'Ada' }
      return { action: 'accept' as const, content }
    },
    sample: () => {
      asked.push('sampling')
      const content = { type: 'text' as const, text: 'Fjords for everyone' }
      return { role: 'assistant' as const, model: 'test', content }
    },
    roots: () => {
      asked.push('roots')
      return { roots }
    },
  }
}

/** The official SDK v2, in the given era or in the one that it negotiates. */
export function officialV2(mode: 'legacy' | 'modern' | 'auto'): Open {
  return async (target) => {
    const asked: string[] = []
    const answer = answers(asked)
    const versionMode = mode === 'modern' ? { pin: '2026-07-28' } : mode
    const client = new ClientV2(info, { capabilities, versionNegotiation: { mode: versionMode } })
    client.setRequestHandler('elicitation/create', ({ params }) => answer.elicit(params))
    client.setRequestHandler('sampling/createMessage', answer.sample)
    client.setRequestHandler('roots/list', answer.roots)
    const http =
      typeof target === 'string' ? new StreamableHTTPClientTransport(new URL(target)) : undefined
    await client.connect(http ?? new StdioClientTransport(target as Exclude<Target, string>))
    return {
      asked,
      callTool: async (name, args) =>
        textOf((await client.callTool({ name, arguments: args })).content),
      getPrompt: async (name, args) =>
        textOf((await client.getPrompt({ name, arguments: args })).messages[0]?.content),
      readResource: async (uri) => textOf((await client.readResource({ uri })).contents),
      async close() {
        if (mode === 'legacy') await http?.terminateSession()
        await client.close()
      },
    }
  }
}

/** The official SDK v1, which supports only sessions. */
export const officialV1: Open = async (target) => {
  const asked: string[] = []
  const answer = answers(asked)
  const client = new ClientV1(info, { capabilities })
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => answer.elicit(params))
  client.setRequestHandler(CreateMessageRequestSchema, answer.sample)
  client.setRequestHandler(ListRootsRequestSchema, answer.roots)
  const http = typeof target === 'string' ? new HttpClientTransportV1(new URL(target)) : undefined
  const transport: TransportV1 =
    http ?? new StdioClientTransportV1(target as Exclude<Target, string>)
  await client.connect(transport)
  return {
    asked,
    callTool: async (name, args) =>
      textOf((await client.callTool({ name, arguments: args })).content),
    getPrompt: async (name, args) =>
      textOf((await client.getPrompt({ name, arguments: args })).messages[0]?.content),
    readResource: async (uri) => textOf((await client.readResource({ uri })).contents),
    async close() {
      await http?.terminateSession()
      await client.close()
    },
  }
}

/** Edgewise, in one revision. */
export function edgewise(revision: Revision): Open {
  return async (target) => {
    const asked: string[] = []
    const answer = answers(asked)
    const client = await connect(typeof target === 'string' ? target : stdioClient(target), {
      revision,
      // A program that starts slowly must not be mistaken for one of an older revision.
      probeTimeoutMs: 60_000,
      onElicit: answer.elicit,
      onSample: answer.sample,
      roots: () => answer.roots().roots,
    })
    return {
      asked,
      callTool: async (name, args) => textOf((await client.callTool(name, args)).content),
      getPrompt: async (name, args) =>
        textOf((await client.getPrompt(name, args)).messages[0]?.content),
      readResource: async (uri) => textOf((await client.readResource(uri)).contents),
      close: () => client.close(),
    }
  }
}

/** The text of the first block of content. */
function textOf(content: unknown): string {
  const block: unknown = Array.isArray(content) ? content[0] : content
  if (typeof block === 'object' && block && 'text' in block) return String(block.text)
  throw new TypeError(`No text in ${JSON.stringify(content)}`)
}
