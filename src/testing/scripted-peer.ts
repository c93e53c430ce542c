/**
 * A scripted peer behind a transport: answers as a test says, right or wrong, and remembers what it
 * was sent.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#custom-transports
 */
import { McpError } from '../protocol/errors.ts'
import type { JsonObject, JsonRpcMessage } from '../protocol/jsonrpc.ts'
import { inMemoryTransports } from '../transport/in-memory.ts'
import type { Transport } from '../protocol/transport.ts'

/** A peer behind a transport, and everything that it was sent. */
export interface ScriptedPeer {
  /** What `connect`, or `serveTransport`, takes. */
  readonly transport: Transport
  readonly seen: (JsonObject & { id?: number; method?: string; params?: JsonObject })[]
  /** Sends a frame unasked: anything at all. */
  send(frame: unknown): void
  /** Ends the connection. */
  close(): void
  /** The messages with a method. */
  sent(method: string): JsonObject[]
}

/**
 * Makes a peer of a function that is given each message, and gives what to send back, if anything; at
 * once, or as a promise. When it throws, the connection is closed with the reason.
 */
export function scriptedPeer(
  answer: (message: JsonObject & { id?: number; method?: string }) => unknown,
): ScriptedPeer {
  const [theirs, mine] = inMemoryTransports()
  const seen: ScriptedPeer['seen'] = []
  const send = (frame: unknown): void => void mine.send(frame as JsonRpcMessage).catch(() => {})
  let reason: McpError | undefined
  const fail = (cause: unknown): void => {
    const why = cause instanceof Error ? cause.message : String(cause)
    reason = new McpError('INVALID_USE', `The script failed: ${why}`, { cause })
    void mine.close()
  }
  const reply = (frame: unknown): void => {
    if (frame !== undefined) send(frame)
  }
  void mine.start({
    message(frame) {
      seen.push(frame as JsonObject)
      try {
        const answered = answer(frame as JsonObject)
        if (answered instanceof Promise) answered.then(reply, fail)
        else reply(answered)
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
        theirs.start({
          message: (frame) => receiver.message(frame),
          malformed: (error) => receiver.malformed(error),
          closed: (why) => receiver.closed(reason ?? why),
        }),
      send: (frame) => theirs.send(frame),
      close: () => theirs.close(),
    },
    seen,
    send,
    close: () => void mine.close(),
    sent: (method) => seen.filter((one) => one.method === method),
  }
}
