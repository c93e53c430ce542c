/**
 * The client side of HTTP+SSE, the transport of 2024-11-05. The server sends all messages on one
 * event stream, and receives messages at another endpoint.
 *
 * @see https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
 */
import type { Channel, ChannelReceiver } from '../../protocol/channel.ts'
import { SdkError, type ProtocolError } from '../../protocol/errors.ts'
import type { HttpOptions } from '../../protocol/http-options.ts'
import { writeJson } from '../../protocol/jsonrpc.ts'
import type { Receiver, Transport } from '../../protocol/transport.ts'
import type { JsonRpcMessage } from '../../protocol/types.ts'
import { parseJson } from '../../protocol/validate.ts'
import { DuplexChannel } from '../duplex-channel.ts'
import { discard, httpError, HttpSender } from '../http/client-fetch.ts'
import { readEvents, requireEventStream } from '../http/response-body.ts'
import { SseParser } from '../http/sse.ts'
import { MAX_MESSAGE_LENGTH } from '../streamable-http/channel.ts'

/**
 * Connects to a 2024-11-05 server over HTTP+SSE. Pass this function to `connect` of
 * `edgewise/client/tiny` in the option `fallback`. `connect` of `edgewise/client` uses it by default, and
 * loads it on demand.
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
  const transport = new HttpSseTransport(url, options)
  const channel = new DuplexChannel(transport, receiver)
  transport.start(channel)
  return channel
}

/** Exchanges messages with a server over the two endpoints. */
class HttpSseTransport implements Transport {
  readonly #options: HttpOptions
  readonly #streamEndpoint: HttpSender
  /** Aborts when the client closes the connection. */
  readonly #closeController = new AbortController()
  /** Resolves with the message endpoint when the server has announced it. Until then, messages wait. */
  #endpoint!: Promise<HttpSender>

  constructor(url: string, options: HttpOptions) {
    this.#options = options
    this.#streamEndpoint = new HttpSender(url, options)
  }

  /** Opens the event stream. */
  start(receiver: Receiver): void {
    this.#endpoint = new Promise((resolve, reject) => {
      this.#listen(receiver, resolve).catch((reason: SdkError) => {
        reject(reason)
        receiver.closed(reason)
      })
    })
    this.#endpoint.catch(() => {})
  }

  async #listen(receiver: Receiver, onEndpoint: (endpoint: HttpSender) => void): Promise<never> {
    const { signal } = this.#closeController
    const streamEndpoint = this.#streamEndpoint
    const headers = { accept: 'text/event-stream' }
    const response = await requireEventStream(
      await streamEndpoint.send('GET', headers, undefined, signal),
    )
    const parser = new SseParser((type, data) => {
      if (type === 'message') deliver(receiver, data)
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

  async send(message: JsonRpcMessage): Promise<void> {
    const { signal } = this.#closeController
    const endpoint = await this.#endpoint
    if (signal.aborted) throw new SdkError('CLOSED', 'The connection is closed')
    const headers = { 'content-type': 'application/json' }
    const response = await endpoint.send('POST', headers, writeJson(message), signal)
    if (!response.ok) throw await httpError(response, `"${endpoint.url}" refused a message`)
    discard(response)
  }

  close(): Promise<void> {
    this.#closeController.abort()
    return Promise.resolve()
  }
}

/** Passes a message that arrived on the stream to the receiver. */
function deliver(receiver: Receiver, text: string): void {
  try {
    void receiver.message(parseJson(text))
  } catch (error) {
    receiver.malformed(error as ProtocolError)
  }
}
