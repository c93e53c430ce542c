/**
 * A client's transport to the entrypoint of another Worker, which uses RPC over a service binding.
 *
 * @see https://developers.cloudflare.com/workers/runtime-apis/bindings/service-bindings/rpc/
 */
import { Inbox, isObject, writeJson } from '#internal/connection'
import { SdkError, type JsonRpcMessage, type ProtocolError } from '../../src/index.ts'
import type { Receiver, Transport } from '../../src/transport/index.ts'
import type { EntrypointClass } from './entrypoint.ts'
import { parseText, requireSendable, RpcReceiver } from './rpc-messages.ts'
import type { RpcConnection } from './rpc-connection.ts'

/**
 * A service binding to the `entrypoint` of a Worker, such as a `Service<typeof Travel>`. Use this
 * type if you cannot import the types of the other Worker.
 */
export type EntrypointBinding = Pick<Service<EntrypointClass>, 'openConnection'>

/**
 * Creates a transport to a server in another Worker, over a service binding and without HTTP.
 *
 * In a Worker, a connection can be used only in the request that opened it, so connect in each request that
 * calls tools. In a Durable Object, connect once.
 *
 * @example
 * ```ts
 * import { bindingTransport, type EntrypointBinding } from 'edgewise/cloudflare'
 * import { connect } from 'edgewise/client'
 *
 * export default {
 *   async fetch(_request, env) {
 *     await using client = await connect(bindingTransport(env.TRAVEL))
 *     const { content } = await client.callTool('weather', { city: 'Oslo' })
 *     return Response.json(content)
 *   },
 * } satisfies ExportedHandler<{ TRAVEL: EntrypointBinding }>
 * ```
 *
 * @param binding The binding, whose configuration names the `entrypoint` of the other Worker.
 * @throws {TypeError} If `binding` is not a service binding.
 * @throws {SdkError} From `start`: `UNAUTHORIZED` if the server rejects this Worker, `CLOSED` if the
 *   other Worker fails. From `send`: `LIMIT_EXCEEDED` if a message exceeds 32 MiB, the limit of
 *   Workers RPC.
 */
export function bindingTransport(binding: EntrypointBinding): Transport {
  if (typeof binding?.openConnection === 'function') return new BindingTransport(binding)
  throw new TypeError('A service binding is needed, such as "env.TRAVEL"')
}

class BindingTransport implements Transport {
  readonly #binding: EntrypointBinding
  #connection: Rpc.Stub<RpcConnection> | undefined
  #receiver: Receiver | undefined
  /** The number of sent messages that the other Worker has not yet answered or acknowledged. */
  #pendingCount = 0
  readonly #inbox = new Inbox(
    (frame) => this.#receiver?.message(frame),
    (reason) => this.#end(reason),
  )

  constructor(binding: EntrypointBinding) {
    this.#binding = binding
  }

  async start(receiver: Receiver): Promise<void> {
    const rpcReceiver = new RpcReceiver(
      (text) => this.#deliver(text),
      () => this.#end(new SdkError('CLOSED', 'The other Worker closed the connection')),
    )
    this.#receiver = receiver
    let connection: Rpc.Stub<RpcConnection> | null
    try {
      connection = await this.#binding.openConnection(rpcReceiver)
    } catch (cause) {
      const { message } = cause as Error
      throw new SdkError('CLOSED', `Cannot connect to the other Worker: ${message}`, { cause })
    }
    if (!connection) throw new SdkError('UNAUTHORIZED', 'The other Worker rejects this caller')
    if (this.#receiver) {
      this.#connection = connection
    } else {
      // The transport was closed in the meantime
      release(connection)
    }
  }

  async send(frame: JsonRpcMessage | readonly JsonRpcMessage[]): Promise<void> {
    const connection = this.#connection
    if (!connection) throw new SdkError('CLOSED', 'Cannot send: the connection is closed')
    const text = requireSendable(writeJson(frame))
    void this.#exchange(connection, text, frame)
  }

  async close(): Promise<void> {
    const connection = this.#connection
    this.#connection = undefined
    // Releasing a connection ends it, unless the other Worker is still answering calls
    if (this.#pendingCount > 0) await connection?.close().catch(() => {})
    release(connection)
    this.#end()
  }

  /** Sends a message, and delivers its response. */
  async #exchange(
    connection: Rpc.Stub<RpcConnection>,
    text: string,
    frame: JsonRpcMessage | readonly JsonRpcMessage[],
  ): Promise<void> {
    this.#pendingCount++
    try {
      const response = await connection.send(text)
      if (response !== null) this.#deliver(response, frame)
    } catch (cause) {
      this.#end(new SdkError('CLOSED', 'The connection to the other Worker broke', { cause }))
    }
    this.#pendingCount--
  }

  /**
   * Delivers a message of the other Worker to the receiver.
   *
   * @param request The sent message that the delivered message answers, if any.
   */
  #deliver(text: unknown, request?: JsonRpcMessage | readonly JsonRpcMessage[]): void {
    try {
      this.#inbox.deliver(withRequestId(parseText(text), request))
    } catch (cause) {
      const error = cause as ProtocolError
      // Adds the id of the request whose response is malformed, so that the request fails
      if (isObject(request) && 'id' in request) error.partialMessage = { id: request.id }
      this.#receiver?.malformed(error)
    }
  }

  #end(reason?: Error): void {
    const receiver = this.#receiver
    this.#receiver = undefined
    release(this.#connection)
    this.#connection = undefined
    receiver?.closed(reason)
  }
}

/**
 * Releases a connection. Outside of the request that opened the connection, this fails. The platform then ends
 * the connection together with that request.
 */
function release(connection: Rpc.Stub<RpcConnection> | undefined): void {
  try {
    connection?.[Symbol.dispose]()
  } catch {}
}

/** Adds the request's id to an error response that lacks one because the id could not be read. */
function withRequestId(answer: unknown, request: unknown): unknown {
  if (!isObject(answer) || !('error' in answer) || answer.id !== undefined) return answer
  return isObject(request) && 'id' in request ? { ...answer, id: request.id } : answer
}
