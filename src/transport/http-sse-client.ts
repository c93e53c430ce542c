/**
 * HTTP+SSE, the transport of 2024-11-05, the client's side: one stream that everything from the
 * server comes on, and another endpoint for everything to it.
 *
 * @see https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
 */
import type { HttpOptions } from '../client/options.ts'
import { McpError, ProtocolError, PARSE_ERROR } from '../protocol/errors.ts'
import type { JsonRpcMessage } from '../protocol/jsonrpc.ts'
import { isEventStream, readEvents } from './streamable-http/client-body.ts'
import { discard, httpError, HttpSender } from './streamable-http/client-fetch.ts'
import { MAX_MESSAGE_LENGTH } from './streamable-http/client.ts'
import { SseParser } from './sse.ts'
import type { Receiver, Transport } from './transport.ts'

/** Options of {@link HttpSseTransport}. */
export interface HttpSseOptions extends HttpOptions {
  /** How long the server may take to name the other endpoint, in milliseconds. Default: 60 s. */
  readonly timeoutMs?: number
}

/** A connection to a server that has the two endpoints. */
export class HttpSseTransport implements Transport {
  readonly #url: string
  readonly #options: HttpSseOptions
  readonly #closing = new AbortController()
  #sender: HttpSender | undefined

  constructor(url: string, options: HttpSseOptions) {
    this.#url = url
    this.#options = options
  }

  /**
   * Opens the stream and waits until the server has named the other endpoint.
   *
   * @throws {McpError} `HTTP` when there is no such stream, or the endpoint is on another origin.
   */
  async start(receiver: Receiver): Promise<void> {
    const { signal } = this.#closing
    const { timeoutMs = 60_000, maxMessageLength = MAX_MESSAGE_LENGTH } = this.#options
    const late = new McpError('TIMEOUT', `"${this.#url}" named no endpoint in ${timeoutMs} ms`)
    const stop = (): void => this.#closing.abort(late)
    const timer = timeoutMs < Infinity ? setTimeout(stop, timeoutMs) : undefined
    try {
      const sender = new HttpSender(this.#url, this.#options)
      const response = await sender.send('GET', { accept: 'text/event-stream' }, undefined, signal)
      if (!response.ok || !isEventStream(response)) {
        discard(response)
        throw httpError(response, `"${this.#url}" gave no stream`)
      }
      await new Promise<void>((resolve, reject) => {
        const parser = new SseParser((type, data) => {
          if (type === 'message') deliver(receiver, data)
          else if (type === 'endpoint' && !this.#sender) {
            try {
              this.#sender = this.#endpoint(sender.url, data)
              resolve()
            } catch (error) {
              reject(error)
            }
          }
        }, maxMessageLength)
        readEvents(response, parser, signal, () => false)
          .then(
            () => receiver.closed(new McpError('NETWORK', 'The stream ended')),
            (error: Error) => receiver.closed(error),
          )
          .finally(() => reject(new McpError('HTTP', `"${this.#url}" named no endpoint`)))
      })
    } finally {
      clearTimeout(timer)
    }
  }

  /** Where to post to. On another origin it could be anyone's, and would get our headers. */
  #endpoint(base: string, data: string): HttpSender {
    const endpoint = new URL(data.trim(), base)
    if (endpoint.origin !== new URL(base).origin) {
      throw new McpError('HTTP', `The endpoint "${endpoint.href}" is on another origin`)
    }
    return new HttpSender(endpoint.href, this.#options)
  }

  async send(frame: JsonRpcMessage | readonly JsonRpcMessage[]): Promise<void> {
    const { signal } = this.#closing
    if (!this.#sender || signal.aborted) throw new McpError('CLOSED', 'The connection is closed')
    const headers = { 'content-type': 'application/json' }
    const response = await this.#sender.send('POST', headers, JSON.stringify(frame), signal)
    discard(response)
    if (!response.ok) throw httpError(response, 'A message was refused')
  }

  close(): Promise<void> {
    this.#closing.abort()
    return Promise.resolve()
  }
}

function deliver(receiver: Receiver, data: string): void {
  let frame: unknown
  try {
    frame = JSON.parse(data)
  } catch {
    receiver.malformed(new ProtocolError(PARSE_ERROR, 'The server sent what is not JSON'))
    return
  }
  void receiver.message(frame)
}
