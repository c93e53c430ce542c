// Several processes of one deployment within the test's process, and a client that talks to any of them.
import { expect, onTestFinished, vi } from 'vitest'
import {
  createHandler,
  createServer,
  type Caller,
  type Handler,
  type Server,
} from '../../src/presets/server.ts'
import type { PostgresSessionOptions, PostgresStorage } from '../../src/postgres/index.ts'
import type { JsonObject } from '../../src/index.ts'
import { initializeRequest } from '../transport/streamable-http/post.ts'
import { openSchema, type TestSchema } from './database.ts'

const URL_ = 'http://localhost/mcp'

/** What stands for one process. */
export interface FleetProcess {
  readonly server: Server
  readonly handle: Handler
  /** What its storage reported. */
  readonly errors: unknown[]
}

/** An event that a client received. */
export interface ReceivedEvent {
  readonly id: string | undefined
  readonly message: JsonObject | undefined
}

/** The stream of a response, as far as it was received. */
export interface ReceivedStream {
  readonly response: Response
  readonly events: ReceivedEvent[]
  /** The messages that were received. */
  messages(): JsonObject[]
  /** The methods of the messages that were received. */
  methods(): unknown[]
  /** The id of the last event with one. */
  lastId(): string
  /** Whether the server ended it. */
  ended(): boolean
  /** Closes the connection. */
  leave(): Promise<void>
}

/** The processes that a test starts. */
export interface Fleet {
  readonly schema: TestSchema
  readonly processes: readonly FleetProcess[]
  /** Makes a process look killed: its calls go on, but it sees and says nothing any more. */
  declareDead(index: number): Promise<void>
}

/** Starts processes whose servers `define` sets up. */
export function openFleet(
  count: number,
  define: (server: Server, index: number) => void = () => {},
  options?: PostgresSessionOptions,
): Fleet {
  const schema = openSchema()
  const storages: PostgresStorage[] = []
  const processes = Array.from({ length: count }, (_, index) => {
    const errors: unknown[] = []
    const { storage } = schema.open({ onError: (error) => errors.push(error) })
    storages.push(storage)
    const server = createServer(
      { name: 'fleet', version: '1' },
      { onError: (error) => errors.push(error) },
    )
    define(server, index)
    const handle = createHandler(server, { sessions: storage.sessions(options), keepAliveMs: 0 })
    onTestFinished(() => handle.close())
    return { server, handle, errors }
  })
  return {
    schema,
    processes,
    declareDead: async (index) => storages[index]?.close(),
  }
}

/** Sends one message to a process. */
export function send(
  { handle }: Pick<FleetProcess, 'handle'>,
  message: unknown,
  headers: Record<string, string> = {},
  caller?: Caller,
): Promise<Response> {
  const accept = 'application/json, text/event-stream'
  const all = { 'content-type': 'application/json', accept, ...headers }
  const body = JSON.stringify(message)
  return handle(new Request(URL_, { method: 'POST', headers: all, body }), caller)
}

/** A session that was opened, with which any process can be addressed. */
export interface FleetSession {
  readonly id: string
  send(process: Pick<FleetProcess, 'handle'>, message: unknown): Promise<Response>
  /** Sends a request and reads its one answer. */
  ask(process: Pick<FleetProcess, 'handle'>, message: unknown): Promise<JsonObject>
  /** Sends a request and reads its stream. */
  stream(process: Pick<FleetProcess, 'handle'>, message: unknown): Promise<ReceivedStream>
  listen(process: Pick<FleetProcess, 'handle'>, after?: string): Promise<ReceivedStream>
  end(process: Pick<FleetProcess, 'handle'>): Promise<Response>
}

/** Opens a session, and finishes its handshake unless told otherwise. */
export async function openSession(
  process: Pick<FleetProcess, 'handle'> & Partial<FleetProcess>,
  {
    params = {},
    caller,
    revision = '2025-11-25',
    handshake = true,
  }: {
    params?: JsonObject
    caller?: Caller
    revision?: string
    handshake?: boolean
  } = {},
): Promise<FleetSession> {
  const { errors = [] } = process
  const capabilities = { elicitation: {}, sampling: {}, roots: {} }
  const opened = await send(
    process,
    initializeRequest(revision, { capabilities, ...params }),
    {},
    caller,
  )
  expect(opened.status, [await opened.clone().text(), ...errors].join('\n')).toBe(200)
  const id = opened.headers.get('mcp-session-id') ?? ''
  const headers = { 'mcp-session-id': id, 'mcp-protocol-version': revision }
  const session: FleetSession = {
    id,
    send: (to, message) => send(to, message, headers, caller),
    ask: async (to, message) => (await (await session.send(to, message)).json()) as JsonObject,
    stream: async (to, message) => receive(await session.send(to, message)),
    async listen({ handle }, after) {
      const accept = { accept: 'text/event-stream' }
      const resume = after === undefined ? {} : { 'last-event-id': after }
      const request = new Request(URL_, { headers: { ...headers, ...accept, ...resume } })
      return receive(await handle(request, caller))
    },
    end: ({ handle }) => handle(new Request(URL_, { method: 'DELETE', headers }), caller),
  }
  if (handshake) {
    const done = await session.send(process, {
      jsonrpc: '2.0',
      method: 'notifications/initialized',
    })
    expect(done.status).toBe(202)
  }
  return session
}

/** Reads the events of a response while they arrive. */
export function receive(response: Response): ReceivedStream {
  const events: ReceivedEvent[] = []
  const reader = response.body?.getReader()
  let isOver = false
  let text = ''
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder()
    for (;;) {
      const { value, done } = (await reader?.read()) ?? { value: undefined, done: true }
      if (done) break
      text += decoder.decode(value, { stream: true })
      const parts = text.split('\n\n')
      text = parts.pop() ?? ''
      for (const part of parts) {
        const id = /^id: (.*)$/m.exec(part)?.[1]
        const data = /^data: (.+)$/m.exec(part)?.[1]
        const message = data === undefined ? undefined : (JSON.parse(data) as JsonObject)
        events.push({ id, message })
      }
    }
    isOver = true
  }
  read().catch(() => {
    isOver = true
  })
  const messages = (): JsonObject[] =>
    events.flatMap(({ message }): JsonObject[] => (message ? [message] : []))
  return {
    response,
    events,
    messages,
    methods: () => messages().map(({ method }) => method),
    lastId: () => events.findLast(({ id }) => id !== undefined)?.id ?? '',
    ended: () => isOver,
    leave: async () => reader?.cancel(),
  }
}

/** A call of a tool. */
export function call(id: number | string, name: string, args: JsonObject = {}): JsonObject {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } }
}

/** The text of a tool's answer. */
export function textOf(message: JsonObject | undefined): string {
  const { result } = (message ?? {}) as { result?: { content?: { text?: string }[] } }
  return result?.content?.[0]?.text ?? JSON.stringify(message)
}

/** Waits for a condition. */
export function until(check: () => void | Promise<void>): Promise<void> {
  return vi.waitFor(check, { timeout: 10_000, interval: 10 })
}
