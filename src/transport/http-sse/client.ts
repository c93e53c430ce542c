/**
 * The client side of HTTP+SSE, the transport of 2024-11-05: the server sends all messages on one
 * event stream, and receives messages at another endpoint.
 *
 * @see https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
 */
import type { Channel, ChannelReceiver, OutgoingRequest } from '../../protocol/channel.ts'
import { SdkError, type ProtocolError } from '../../protocol/errors.ts'
import type { HttpOptions } from '../../protocol/http-options.ts'
import { writeJson } from '../../protocol/jsonrpc.ts'
import type { JsonRpcMessage } from '../../protocol/types.ts'
import { parseJson } from '../../protocol/validate.ts'
import { discard, httpError, HttpSender } from '../http/client-fetch.ts'
import { isEventStream, readEvents } from '../http/response-body.ts'
import { SseParser } from '../http/sse.ts'
import { MAX_MESSAGE_LENGTH } from '../streamable-http/channel.ts'

/**
 * Connects to a 2024-11-05 server over HTTP+SSE. It is the default of the option `fallback` in
 * `edgewise/client`. With `edgewise/client/tiny`, pass it as the option `fallback`.
 *
 * @example
 * ```ts
 * import { connect, httpSse } from 'edgewise/client/tiny'
 *
 * const client = await connect('https://example.com/mcp', { fallback: httpSse })
 * ```
 *
 * @see https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
 */
export function httpSse(url: string, options: HttpOptions, receiver: ChannelReceiver): Channel {
  return new HttpSseChannel(url, options, receiver)
}

/** Exchanges messages with a server over the two endpoints. */
class HttpSseChannel implements Channel {
  readonly #options: HttpOptions
  readonly #receiver: ChannelReceiver
  readonly #streamEndpoint: HttpSender
  readonly #closing = new AbortController()
  /** Resolves with the message endpoint when the server has announced it. Earlier messages wait for it. */
  readonly #endpoint: Promise<HttpSender>

  /** Opens the event stream. */
  constructor(url: string, options: HttpOptions, receiver: ChannelReceiver) {
    this.#options = options
    this.#receiver = receiver
    this.#streamEndpoint = new HttpSender(url, options)
    this.#endpoint = new Promise((resolve, reject) => {
      this.#listen(resolve).catch((reason: SdkError) => {
        reject(reason)
        if (!this.#closing.signal.aborted) receiver.closed(reason)
      })
    })
    this.#endpoint.catch(() => {})
  }

  async #listen(onEndpoint: (endpoint: HttpSender) => void): Promise<never> {
    const { signal } = this.#closing
    const streamEndpoint = this.#streamEndpoint
    const response = await streamEndpoint.send(
      'GET',
      { accept: 'text/event-stream' },
      undefined,
      signal,
    )
    if (!isEventStream(response)) throw await httpError(response, 'The server opened no stream')
    const parser = new SseParser((type, data) => {
      if (type === 'message') this.#deliver(data)
      if (type !== 'endpoint') return
      const { href, origin } = new URL(data.trim(), streamEndpoint.url)
      // An endpoint on another origin could belong to anyone, and would receive the client's headers
      if (origin !== new URL(streamEndpoint.url).origin) {
        throw new SdkError('HTTP', `The endpoint "${href}" is on another origin`)
      }
      onEndpoint(new HttpSender(href, this.#options, streamEndpoint.server))
    }, this.#options.maxMessageLength ?? MAX_MESSAGE_LENGTH)
    await readEvents(response, parser, signal)
    throw new SdkError('HTTP', 'The stream ended')
  }

  request(call: OutgoingRequest): void {
    this.send(call.message).catch((error: Error) => call.reject(error))
  }

  async send(message: JsonRpcMessage): Promise<void> {
    const { signal } = this.#closing
    const endpoint = await this.#endpoint
    if (signal.aborted) throw new SdkError('CLOSED', 'The connection is closed')
    const headers = { 'content-type': 'application/json' }
    const response = await endpoint.send('POST', headers, writeJson(message), signal)
    if (!response.ok) throw await httpError(response, `"${endpoint.url}" refused a message`)
    discard(response)
  }

  close(): Promise<void> {
    this.#closing.abort()
    return Promise.resolve()
  }

  #deliver(data: string): void {
    try {
      this.#receiver.receive(parseJson(data))
    } catch (error) {
      this.#receiver.refuse((error as ProtocolError).about, error)
    }
  }
}
