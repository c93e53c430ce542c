/** What goes over the wire between a session and a server, without a client of ours. */
import type { ServeTransportOptions } from '../../src/server/serve-transport.ts'
import type { ClientCapabilities, JsonObject, Revision } from '../../src/index.ts'
import { serveTransport, type Server } from '../../src/presets/server.ts'
import { inMemoryTransports } from '../../src/transport/in-memory.ts'
import { until } from '../client/peers.ts'

/** A message as it came. */
export type Message = JsonObject & {
  id?: string | number
  method?: string
  params?: JsonObject
  result?: JsonObject
  error?: { code: number; message: string; data?: JsonObject }
}

/** A session, and everything that came from the server. */
export interface Wire {
  readonly received: Message[]
  /** The result of `initialize`. */
  readonly welcome: JsonObject
  send(frame: unknown): void
  /** Sends a request and waits for its response. */
  request(method: string, params?: JsonObject, id?: string | number): Promise<Message>
  /** The result of a request, which must have one. */
  result(method: string, params?: JsonObject): Promise<JsonObject>
  /** The error code of a request, which must have one. */
  code(method: string, params?: JsonObject): Promise<number | undefined>
  /** Answers what the server asks. */
  onRequest(answer: (message: Message) => JsonObject | undefined): void
  close(): Promise<void>
}

/** Opens a session. */
export async function openWire(
  server: Server,
  revision: Revision = '2025-11-25',
  capabilities: ClientCapabilities = {},
  options: ServeTransportOptions = {},
): Promise<Wire> {
  const [near, far] = inMemoryTransports()
  const served = serveTransport(server, far, options)
  const received: Message[] = []
  let answer: (message: Message) => JsonObject | undefined = () => undefined
  let lastId = 100
  const send = (frame: unknown): void => void near.send(frame as never).catch(() => {})
  await near.start({
    message(frame) {
      for (const message of [frame].flat() as Message[]) {
        received.push(message)
        if (message.method === undefined || message.id === undefined) continue
        const result = answer(message)
        if (result) send({ jsonrpc: '2.0', id: message.id, result })
      }
    },
    malformed() {},
    closed() {},
  })
  const find = (id: string | number): Message | undefined =>
    received.find((message) => message.id === id && message.method === undefined)
  const request = async (
    method: string,
    params?: JsonObject,
    id: string | number = ++lastId,
  ): Promise<Message> => {
    send({ jsonrpc: '2.0', id, method, ...(params && { params }) })
    await until(() => find(id) !== undefined)
    return find(id) ?? {}
  }
  const result = async (method: string, params?: JsonObject): Promise<JsonObject> => {
    const response = await request(method, params)
    if (!response.result) throw new Error(`"${method}" failed: ${JSON.stringify(response.error)}`)
    return response.result
  }
  const welcome = await result('initialize', {
    protocolVersion: revision,
    capabilities,
    clientInfo: { name: 'wire', version: '1' },
  })
  send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  return {
    received,
    welcome,
    send,
    request,
    result,
    code: async (method, params) => (await request(method, params)).error?.code,
    onRequest: (given) => (answer = given),
    async close() {
      await near.close()
      await served
    },
  }
}
