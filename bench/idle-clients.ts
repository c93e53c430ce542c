/**
 * The clients of the idle sessions benchmark: a Worker in the same workerd, because each connection from
 * outside uses two of the file descriptors that a process may have, and a local one uses none.
 */
import { DurableObject, env } from 'cloudflare:workers'
import { handshake } from './requests.ts'

const OPENED_AT_ONCE = 16

interface Fetcher {
  fetch(request: Request): Promise<Response>
}
interface Namespace {
  idFromName(name: string): object
  get(id: object): Fetcher
}
const { SERVED, CLIENTS } = env as { SERVED: Fetcher; CLIENTS: Namespace }

/** Holds the client side of all streams. */
export class Clients extends DurableObject {
  /** Each makes the object of a stream's session answer a ping. */
  readonly #pings: (() => Promise<void>)[] = []
  #streams = 0
  #ended = 0
  /** Streams that have not received the change yet. */
  #waiting = 0
  #allReceived: () => void = () => {}

  async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    const count = Number(searchParams.get('count'))
    if (pathname === '/open') await this.#open(count, searchParams.get('path') ?? '/mcp')
    if (pathname === '/announce') await this.#announce(searchParams.get('path') ?? '/notify')
    if (pathname === '/ping') for (const ping of this.#pings.slice(0, count)) await ping()
    return Response.json({ streams: this.#streams, ended: this.#ended })
  }

  async #open(count: number, path: string): Promise<void> {
    let left = count
    const lane = async (): Promise<void> => {
      while (left-- > 0) await (path === '/mcp' ? this.#openSession() : this.#openStream(path))
    }
    await Promise.all(Array.from({ length: OPENED_AT_ONCE }, lane))
  }

  async #openSession(): Promise<void> {
    const send = (request: Request): Promise<Response> => SERVED.fetch(request)
    const { sessionId = '', revision } = await handshake(send, at('/mcp'))
    const sessionHeaders = { 'mcp-session-id': sessionId, 'mcp-protocol-version': revision }
    await this.#openStream('/mcp', sessionHeaders)
    const accept = 'application/json, text/event-stream'
    const headers = { ...sessionHeaders, accept, 'content-type': 'application/json' }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
    this.#pings.push(async () => {
      const response = await send(new Request(at('/mcp'), { method: 'POST', headers, body }))
      if (!(await response.text()).includes('"result"')) throw new Error('A ping was not answered')
    })
  }

  async #openStream(path: string, sessionHeaders: Record<string, string> = {}): Promise<void> {
    const headers = { accept: 'text/event-stream', ...sessionHeaders }
    const response = await SERVED.fetch(new Request(at(path), { headers }))
    if (!response.ok || !response.body) throw new Error(`A stream was refused: ${response.status}`)
    this.#streams++
    void this.#read(response.body.getReader()).finally(() => this.#ended++)
  }

  /** Reads a stream to its end; clients receive one event with data per change. */
  async #read(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder()
    let text = ''
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      text += decoder.decode(value, { stream: true })
      if (text.includes('data: {') && --this.#waiting === 0) this.#allReceived()
      text = text.slice(text.lastIndexOf('\n') + 1)
    }
  }

  async #announce(path: string): Promise<void> {
    this.#waiting = this.#streams
    const allReceived = new Promise<void>((resolve) => (this.#allReceived = resolve))
    await SERVED.fetch(new Request(at(path)))
    await allReceived
  }
}

const at = (path: string): string => `http://served${path}`

export default {
  fetch: (request: Request): Promise<Response> =>
    CLIENTS.get(CLIENTS.idFromName('all')).fetch(request),
}
