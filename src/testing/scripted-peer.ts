/**
 * A scripted peer behind a transport: answers as a test says, right or wrong, and remembers what it
 * was sent.
 */
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

/** Makes a peer of a function that is given each message, and gives what to send back, if anything. */
export function scriptedPeer(
  answer: (message: JsonObject & { id?: number; method?: string }) => unknown,
): ScriptedPeer {
  const [transport, mine] = inMemoryTransports()
  const seen: ScriptedPeer['seen'] = []
  const send = (frame: unknown): void => void mine.send(frame as JsonRpcMessage).catch(() => {})
  void mine.start({
    message(frame) {
      seen.push(frame as JsonObject)
      const reply = answer(frame as JsonObject)
      if (reply !== undefined) send(reply)
    },
    malformed() {},
    closed() {},
  })
  return {
    transport,
    seen,
    send,
    close: () => void mine.close(),
    sent: (method) => seen.filter((one) => one.method === method),
  }
}
