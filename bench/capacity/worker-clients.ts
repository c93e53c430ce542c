/** The idle clients of the capacity check: a Worker in the same workerd, as in `idle-clients.ts`. */
import { DurableObject, env } from 'cloudflare:workers'
import { handshake, template } from '../requests.ts'
import { resourceOf } from './scale.ts'

const OPENED_AT_ONCE = 16

interface Fetcher {
  fetch(request: Request): Promise<Response>
}
interface Namespace {
  idFromName(name: string): object
  get(id: object): Fetcher
}
const { SERVED, CLIENTS } = env as { SERVED: Fetcher; CLIENTS: Namespace }

/** What happened to all clients, as every command returns it. */
export interface ClientsState {
  streams: number
  ended: number
  /** The changes that arrived. */
  received: number
  /** The ids of the sessions. */
  sessions: string[]
}

/** Holds the client side of all streams; client `n` watches resource `n`. */
export class Clients extends DurableObject {
  readonly #state: ClientsState = { streams: 0, ended: 0, received: 0, sessions: [] }
  #next = 0

  async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    const open = pathname === '/open-sessions' ? this.#openSession : this.#openListener
    let left = pathname === '/state' ? 0 : Number(searchParams.get('count'))
    const lane = async (): Promise<void> => {
      while (left-- > 0) await open.call(this, this.#next++)
    }
    await Promise.all(Array.from({ length: OPENED_AT_ONCE }, lane))
    return Response.json(this.#state)
  }

  async #openListener(client: number): Promise<void> {
    const notifications = { resourceSubscriptions: [resourceOf(client)] }
    const { headers, body } = template('subscriptions/listen', { notifications }, undefined)
    await this.#openStream({ method: 'POST', headers, body: body(1) })
  }

  async #openSession(client: number): Promise<void> {
    const session = await handshake((request) => SERVED.fetch(request), ENDPOINT)
    const { headers, body } = template('resources/subscribe', { uri: resourceOf(client) }, session)
    const subscribed = await send({ method: 'POST', headers, body: body(1) })
    const text = await subscribed.text()
    if (!text.includes('"result"')) throw new Error(`A subscription was refused: ${text}`)
    this.#state.sessions.push(session.sessionId ?? '')
    await this.#openStream({ headers: { ...headers, accept: 'text/event-stream' } })
  }

  async #openStream(init: RequestInit): Promise<void> {
    const response = await send(init)
    if (!response.ok || !response.body) throw new Error(`A stream was refused: ${response.status}`)
    this.#state.streams++
    void this.#read(response.body.getReader()).finally(() => this.#state.ended++)
  }

  async #read(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder()
    let text = ''
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      text += decoder.decode(value, { stream: true })
      this.#state.received += text.split('resources/updated"').length - 1
      text = text.slice(text.lastIndexOf('\n') + 1)
    }
  }
}

const ENDPOINT = 'http://served/mcp'

const send = (init: RequestInit): Promise<Response> => SERVED.fetch(new Request(ENDPOINT, init))

export default {
  fetch: (request: Request): Promise<Response> =>
    CLIENTS.get(CLIENTS.idFromName('all')).fetch(request),
}
