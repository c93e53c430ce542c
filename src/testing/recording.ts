/**
 * Recorded exchanges: what a client and a server said to each other, to be looked at, or played to a
 * client again without the server.
 */
import { McpError } from '../protocol/errors.ts'
import { isRequest, isResponse, type JsonRpcMessage, type RequestId } from '../protocol/jsonrpc.ts'
import { validateMessage } from '../protocol/validate.ts'
import { inMemoryTransports } from '../transport/in-memory.ts'
import type { Transport } from '../protocol/transport.ts'

/** One frame of a recording; plain JSON that can be stored. */
export interface RecordedFrame {
  /** `sent` by whoever uses the transport, `received` by it. */
  readonly direction: 'sent' | 'received'
  readonly frame: unknown
}

/** A transport that is listened in on. */
export interface Recorder {
  /** Use it in place of the one that was given. */
  readonly transport: Transport
  /** What was said until now, in order. */
  readonly frames: RecordedFrame[]
}

/** Records what goes over a transport. */
export function recordTransport(transport: Transport): Recorder {
  const frames: RecordedFrame[] = []
  const keep = (direction: RecordedFrame['direction'], frame: unknown): void =>
    void frames.push({ direction, frame: structuredClone(frame) })
  return {
    frames,
    transport: {
      start: (receiver) =>
        transport.start({
          message(frame) {
            keep('received', frame)
            return receiver.message(frame)
          },
          malformed: (error) => receiver.malformed(error),
          closed: (reason) => receiver.closed(reason),
        }),
      send(frame) {
        keep('sent', frame)
        return transport.send(frame)
      },
      close: () => transport.close(),
    },
  }
}

/**
 * Plays a recording to a client: a transport whose far side says what was recorded, as soon as the
 * client says what it said then. Ids may differ. A client that says something else, or something
 * more, has its connection closed with the reason.
 */
export function replayTransport(frames: readonly RecordedFrame[]): Transport {
  const [near, far] = inMemoryTransports()
  const ids = new Map<RequestId, RequestId>()
  const rest = [...frames]

  async function take(frame: unknown): Promise<void> {
    const expected = rest.shift()
    const message = validateMessage(frame)
    const said = expected && validateMessage(expected.frame)
    const fault = said ? difference(said, message) : `nothing is left to answer ${name(message)}`
    if (fault !== undefined) return fail(fault)
    if (said && isRequest(said) && isRequest(message)) ids.set(said.id, message.id)
    await play()
  }

  async function play(): Promise<void> {
    while (rest[0]?.direction === 'received') {
      const message = validateMessage(rest.shift()?.frame)
      if (isResponse(message) && message.id !== undefined) {
        message.id = ids.get(message.id) ?? message.id
      }
      await far.send(message)
    }
  }

  async function fail(fault: string): Promise<void> {
    rest.length = 0
    reason = new McpError('INVALID_USE', `The recording differs: ${fault}`)
    await far.close()
  }

  let reason: McpError | undefined
  void far.start({
    message: take,
    malformed() {},
    closed() {},
  })
  return {
    async start(receiver) {
      await near.start({
        message: (frame) => receiver.message(frame),
        malformed: (error) => receiver.malformed(error),
        closed: (why) => receiver.closed(reason ?? why),
      })
      await play()
    },
    send: (frame) => near.send(frame),
    close: () => near.close(),
  }
}

/** What was recorded and is said now, where they are not the same. */
function difference(recorded: JsonRpcMessage, said: JsonRpcMessage): string | undefined {
  if (name(recorded) !== name(said)) return `it has ${name(recorded)}, not ${name(said)}`
  const [before, now] = [recorded, said].map((message) => {
    return JSON.stringify({ ...message, id: undefined }, sorted)
  })
  return before === now ? undefined : `${name(said)} was ${before}, and is ${now}`
}

/** Members in one order, without the token that follows from the id. */
function sorted(key: string, value: unknown): unknown {
  if (key === 'progressToken') return undefined
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

function name(message: JsonRpcMessage): string {
  return 'method' in message ? `"${message.method}"` : 'a response'
}
