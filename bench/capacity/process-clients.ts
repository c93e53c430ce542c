/** The idle clients of the capacity check that are connected to processes, each over its own socket. */
import { Agent, request, type IncomingMessage } from 'node:http'
import { initialize, initialized, template, type Template } from '../requests.ts'
import { resourceOf } from './scale.ts'

const agent = new Agent({ keepAlive: true, maxSockets: 32 })

/** A response, and its body unless it is a stream. */
interface Answer {
  readonly response: IncomingMessage
  readonly text: string
}

/** Sends a request; the sockets of event streams are not shared. */
export function send(
  url: string,
  { method, headers, body }: { method: string; headers: Record<string, string>; body?: string },
  isStream = false,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers, ...(isStream ? { agent: false } : { agent }) })
    outgoing.on('error', reject)
    outgoing.on('response', (response) => {
      if (isStream && response.statusCode === 200) return resolve({ response, text: '' })
      let text = ''
      response.setEncoding('utf8')
      response.on('error', reject)
      response.on('data', (chunk: string) => (text += chunk))
      response.on('end', () => {
        if ((response.statusCode ?? 500) < 300) return resolve({ response, text })
        reject(new Error(`Answered ${response.statusCode}: ${text}`))
      })
    })
    outgoing.end(body)
  })
}

/** Sends a prepared request. */
export function post(url: string, { headers, body }: Template, id = 1): Promise<Answer> {
  return send(url, { method: 'POST', headers, body: body(id) })
}

/** Holds the client side of all streams; client `n` watches resource `n`. */
export class ProcessClients {
  /** The ids of the sessions, in any order. */
  readonly sessions: string[] = []
  streams = 0
  ended = 0
  /** The changes that arrived. */
  received = 0
  readonly #open: IncomingMessage[] = []

  async openSession(url: string, client: number): Promise<void> {
    const plain = template('ping', {}, { revision: '2025-11-25', sessionId: undefined })
    const first = await send(url, {
      method: 'POST',
      headers: plain.headers,
      body: JSON.stringify(initialize),
    })
    const sessionId = String(first.response.headers['mcp-session-id'])
    const session = { revision: '2025-11-25', sessionId }
    const subscribe = template('resources/subscribe', { uri: resourceOf(client) }, session)
    const { headers } = subscribe
    await send(url, { method: 'POST', headers, body: JSON.stringify(initialized) })
    await post(url, subscribe)
    this.sessions.push(sessionId)
    await this.#openStream(url, 'GET', { ...headers, accept: 'text/event-stream' })
  }

  async openListener(url: string, client: number): Promise<void> {
    const notifications = { resourceSubscriptions: [resourceOf(client)] }
    const { headers, body } = template('subscriptions/listen', { notifications }, undefined)
    await this.#openStream(url, 'POST', headers, body(1))
  }

  /** Closes all streams. */
  close(): void {
    for (const response of this.#open) response.destroy()
    agent.destroy()
  }

  async #openStream(
    url: string,
    method: string,
    headers: Record<string, string>,
    body?: string,
  ): Promise<void> {
    const { response } = await send(url, { method, headers, ...(body && { body }) }, true)
    this.streams++
    this.#open.push(response)
    response.setEncoding('utf8')
    response.on('data', (text: string) => {
      this.received += text.split('resources/updated"').length - 1
    })
    response.on('close', () => this.ended++)
    response.on('error', () => {})
  }
}
