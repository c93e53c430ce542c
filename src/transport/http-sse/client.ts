/**
 * HTTP+SSE, the transport of 2024-11-05, the client's side: one stream that everything from the
 * server comes on, and another endpoint for everything to it.
 *
 * @see https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
 */
import type { HttpOptions } from '../../protocol/http-options.ts'
import { McpError, type ProtocolError } from '../../protocol/errors.ts'
import { writeJson, type JsonRpcMessage } from '../../protocol/jsonrpc.ts'
import { parseJson } from '../../protocol/validate.ts'
import { SseParser } from '../http/sse.ts'
import { isEventStream, readEvents } from '../http/response-body.ts'
import { MAX_MESSAGE_LENGTH } from '../streamable-http/channel.ts'
import { discard, httpError, HttpSender } from '../http/client-fetch.ts'
import type { Receiver, Transport } from '../../protocol/transport.ts'

/**
 * Connects to a server of 2024-11-05 by HTTP+SSE: the option `fallback` of {@link connect}.
 *
 * @example
 * ```ts
 * const client = await connect('https://example.com/mcp', { fallback: httpSse })
 * ```
 */
export function httpSse(url: string, options: HttpOptions): Transport {
  return new HttpSseTransport(url, options)
}

/** A connection to a server that has the two endpoints. */
class HttpSseTransport implements Transport {
  readonly #options: HttpOptions
  readonly #stream: HttpSender
  readonly #closing = new AbortController()
  /** Where to post to, as soon as the server has said so. */
  #endpoint: Promise<HttpSender> | undefined

  constructor(url: string, options: HttpOptions) {
    this.#options = options
    this.#stream = new HttpSender(url, options)
  }

  /** Opens the stream. What is sent before the server has named the other endpoint waits for it. */
  start(receiver: Receiver): void {
    this.#endpoint = new Promise((resolve, reject) => {
      this.#listen(receiver, resolve).catch((reason: McpError) => {
        reject(reason)
        receiver.closed(reason)
      })
    })
    this.#endpoint.catch(() => {})
  }

  async #listen(receiver: Receiver, onEndpoint: (endpoint: HttpSender) => void): Promise<never> {
    const { signal } = this.#closing
    const stream = this.#stream
    const response = await stream.send('GET', { accept: 'text/event-stream' }, undefined, signal)
    if (!isEventStream(response)) throw await httpError(response, 'The server gave no stream')
    const parser = new SseParser((type, data) => {
      if (type === 'message') deliver(receiver, data)
      if (type !== 'endpoint') return
      const { href, origin } = new URL(data.trim(), stream.url)
      // On another origin it could be anyone's, and would get our headers
      if (origin !== new URL(stream.url).origin) {
        throw new McpError('HTTP', `The endpoint "${href}" is on another origin`)
      }
      onEndpoint(new HttpSender(href, this.#options, stream.server))
    }, this.#options.maxMessageLength ?? MAX_MESSAGE_LENGTH)
    await readEvents(response, parser, signal, () => false)
    throw new McpError('HTTP', 'The stream ended')
  }

  async send(frame: JsonRpcMessage | readonly JsonRpcMessage[]): Promise<void> {
    const { signal } = this.#closing
    const endpoint = await this.#endpoint
    if (!endpoint || signal.aborted) throw new McpError('CLOSED', 'The connection is closed')
    const headers = { 'content-type': 'application/json' }
    const response = await endpoint.send('POST', headers, writeJson(frame), signal)
    if (!response.ok) throw await httpError(response, `"${endpoint.url}" refused a message`)
    discard(response)
  }

  close(): Promise<void> {
    this.#closing.abort()
    return Promise.resolve()
  }
}

function deliver(receiver: Receiver, data: string): void {
  try {
    void receiver.message(parseJson(data))
  } catch (error) {
    receiver.malformed(error as ProtocolError)
  }
}
