/**
 * A scripted peer behind a transport. It responds as the test says, even if the response violates the
 * protocol, and records the messages that it receives.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#custom-transports
 */
import { SdkError } from '../protocol/errors.ts'
import type { JsonObject, JsonRpcMessage } from '../protocol/types.ts'
import { inMemoryTransports } from '../transport/in-memory.ts'
import type { Transport } from '../protocol/transport.ts'

/** A peer behind a transport, with everything that it received. */
export interface ScriptedPeer {
  /** The transport to pass to `connect` or `serveTransport`. */
  readonly transport: Transport
  /** All received messages, in order. */
  readonly messages: (JsonObject & { id?: number; method?: string; params?: JsonObject })[]
  /** Sends any value as a message. The value need not answer a message. */
  send(frame: unknown): void
  /** Ends the connection. */
  close(): void
  /** The received messages with this method. */
  received(method: string): JsonObject[]
}

/**
 * Creates a peer behind a transport. If `answer` throws or rejects, the connection is closed with
 * that reason.
 *
 * @param answer Called with each received message. Returns the response, directly or as a promise.
 *   `undefined` means that the peer sends no response.
 *
 * @example
 * ```ts
 * import { createServer, serveTransport } from 'edgewise/server'
 * import { scriptedPeer } from 'edgewise/testing'
 *
 * const client = scriptedPeer(() => undefined)
 * void serveTransport(createServer({ name: 'travel', version: '1.0.0' }), client.transport)
 * client.send({ jsonrpc: '2.0', id: 1, method: 'tools/list' }) // Without "initialize" before it
 * ```
 */
export function scriptedPeer(
  answer: (message: JsonObject & { id?: number; method?: string }) => unknown,
): ScriptedPeer {
  const [testedEnd, scriptEnd] = inMemoryTransports()
  const messages: ScriptedPeer['messages'] = []
  const send = (frame: unknown): void =>
    void scriptEnd.send(frame as JsonRpcMessage).catch(() => {})
  let reason: SdkError | undefined
  const fail = (cause: unknown): void => {
    const message = cause instanceof Error ? cause.message : String(cause)
    reason = new SdkError('INVALID_USE', `The script failed: ${message}`, { cause })
    void scriptEnd.close()
  }
  const reply = (frame: unknown): void => {
    if (frame !== undefined) send(frame)
  }
  void scriptEnd.start({
    message(frame) {
      messages.push(frame as JsonObject)
      try {
        const response = answer(frame as JsonObject)
        if (response instanceof Promise) response.then(reply, fail)
        else reply(response)
      } catch (error) {
        fail(error)
      }
    },
    malformed() {},
    closed() {},
  })
  return {
    transport: {
      start: (receiver) =>
        testedEnd.start({
          message: (frame) => receiver.message(frame),
          malformed: (error) => receiver.malformed(error),
          closed: (closeReason) => receiver.closed(reason ?? closeReason),
        }),
      send: (frame) => testedEnd.send(frame),
      close: () => testedEnd.close(),
    },
    messages,
    send,
    close: () => void scriptEnd.close(),
    received: (method) => messages.filter((message) => message.method === method),
  }
}
