/**
 * Records the messages between a client and a server. A test can inspect the recording, or replay it to a
 * client without the server.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#custom-transports
 */
import { SdkError } from '../protocol/errors.ts'
import { isRequest } from '../protocol/jsonrpc.ts'
import type { JsonRpcMessage } from '../protocol/types.ts'
import { META_CLIENT_INFO, META_SUBSCRIPTION_ID } from '../protocol/meta.ts'
import { isObject, validateMessage } from '../protocol/validate.ts'
import { inMemoryTransports } from '../transport/in-memory.ts'
import type { Transport } from '../protocol/transport.ts'

/** One message of a recording; plain JSON that can be stored. */
export interface RecordedFrame {
  /** `sent` or `received` from the perspective of the transport's user. */
  readonly direction: 'sent' | 'received'
  readonly frame: unknown
}

/** A transport that is being recorded. */
export interface Recorder {
  /** The transport to use in place of the original one. */
  readonly transport: Transport
  /** The frames so far, in order. */
  readonly frames: RecordedFrame[]
}

/**
 * Records the frames that pass through a transport, in both directions.
 *
 * @example
 * ```ts
 * import { connect } from 'edgewise/client'
 * import { recordTransport } from 'edgewise/testing'
 * import type { Transport } from 'edgewise/transport'
 *
 * export async function record(original: Transport) {
 *   const { transport, frames } = recordTransport(original)
 *   await using client = await connect(transport)
 *   await client.listAllTools()
 *   return frames
 * }
 * ```
 */
export function recordTransport(transport: Transport): Recorder {
  const frames: RecordedFrame[] = []
  const record = (direction: RecordedFrame['direction'], frame: unknown): void =>
    void frames.push({ direction, frame: structuredClone(frame) })
  return {
    frames,
    transport: {
      start: (receiver) =>
        transport.start({
          message(frame) {
            record('received', frame)
            return receiver.message(frame)
          },
          malformed: (error) => receiver.malformed(error),
          closed: (reason) => receiver.closed(reason),
        }),
      send(frame) {
        record('sent', frame)
        return transport.send(frame)
      },
      close: () => transport.close(),
    },
  }
}

/** A transport that replays a recording. */
export interface Replay extends Transport {
  /**
   * The frames that have not been replayed yet. Empty when the client has sent everything that it sent in
   * the recording.
   */
  readonly remaining: readonly RecordedFrame[]
}

/**
 * Replays a recording to a client. Each recorded server message is delivered as soon as the client has sent
 * the messages that precede it in the recording. Ids and the client's name and version may differ. If the
 * client sends anything else, the connection is closed with the reason.
 *
 * @throws {TypeError} If a frame was not created by {@link recordTransport}.
 */
export function replayTransport(frames: readonly RecordedFrame[]): Replay {
  const [clientSide, serverSide] = inMemoryTransports()
  /** The current ids of requests, by their recorded ids. */
  const ids = new Map<unknown, unknown>()
  requireFrames(frames)
  const remaining = [...frames]
  /** Why the connection was closed, if the client differs from the recording. */
  let reason: SdkError | undefined

  /** Compares a message of the client with the recording. */
  async function receive(frame: unknown): Promise<void> {
    const expected = remaining[0]
    const message = validateMessage(frame)
    const recordedMessage = expected && validateMessage(expected.frame)
    const fault = recordedMessage
      ? describeDifference(recordedMessage, message)
      : `it has no answer to ${describeMessage(message)}`
    if (fault !== undefined) return fail(fault)
    remaining.shift()
    if (recordedMessage && isRequest(recordedMessage) && isRequest(message))
      ids.set(recordedMessage.id, message.id)
    await sendRecorded()
  }

  /** Sends the recorded server messages up to the next message that the client has to send. */
  async function sendRecorded(): Promise<void> {
    while (remaining[0]?.direction === 'received') {
      // A malformed frame is replayed as it is
      const { frame } = remaining.shift() ?? {}
      await serverSide.send(withIds(structuredClone(frame), ids) as JsonRpcMessage)
    }
  }

  /** Closes the connection, because the client differs from the recording. */
  async function fail(fault: string): Promise<void> {
    reason = new SdkError(
      'INVALID_USE',
      `The recording differs: ${fault}; record it again if the change is intended`,
    )
    await serverSide.close()
  }

  void serverSide.start({
    message: receive,
    malformed() {},
    closed() {},
  })
  return {
    remaining,
    async start(receiver) {
      await clientSide.start({
        message: (frame) => receiver.message(frame),
        malformed: (error) => receiver.malformed(error),
        closed: (closeReason) => receiver.closed(reason ?? closeReason),
      })
      await sendRecorded()
    },
    send: (frame) => clientSide.send(frame),
    close: () => clientSide.close(),
  }
}

/** @throws {TypeError} If a value is not a recorded frame. */
function requireFrames(frames: readonly unknown[]): void {
  for (const [index, recorded] of frames.entries()) {
    const { direction, frame } = isObject(recorded) ? recorded : {}
    if (direction === 'received') continue
    try {
      if (direction === 'sent') validateMessage(frame)
      else throw new TypeError('the direction is neither "sent" nor "received"')
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new TypeError(`Cannot replay frame ${index} of the recording: ${reason}`, { cause })
    }
  }
}

/** Replaces the recorded request ids in a frame with the current ids. */
function withIds(frame: unknown, ids: ReadonlyMap<unknown, unknown>): unknown {
  if (!isObject(frame)) return frame
  const { params } = frame
  const replaceId = (holder: unknown, key: string): void => {
    if (isObject(holder) && ids.has(holder[key])) holder[key] = ids.get(holder[key])
  }
  // A request of the server keeps its own id
  if (!('method' in frame)) replaceId(frame, 'id')
  if (frame.method === 'notifications/progress') replaceId(params, 'progressToken')
  if (isObject(params)) replaceId(params._meta, META_SUBSCRIPTION_ID)
  return frame
}

/** The maximum length of a value in an error, in UTF-16 units. */
const EXCERPT_LENGTH = 200

/** The members that may differ: ids, and the client's name and version. */
const IGNORED_PATHS: ReadonlySet<string> = new Set([
  'id',
  'params.requestId',
  'params._meta.progressToken',
  'params.clientInfo',
  `params._meta.${META_CLIENT_INFO}`,
])

/** Describes how the actual message differs from the recorded one; `undefined` if it does not. */
function describeDifference(recorded: JsonRpcMessage, actual: JsonRpcMessage): string | undefined {
  const [recordedName, actualName] = [describeMessage(recorded), describeMessage(actual)]
  if (recordedName !== actualName) return `it has ${recordedName}, not ${actualName}`
  const fault = describeMemberDifference(recorded, actual, '')
  return fault === undefined ? undefined : `in ${actualName}, ${fault}`
}

/** Describes how the first different member differs; `undefined` if no member differs. */
function describeMemberDifference(
  recorded: unknown,
  actual: unknown,
  path: string,
): string | undefined {
  if (IGNORED_PATHS.has(path)) return undefined
  const areContainers = isContainer(recorded) && isContainer(actual)
  if (areContainers && Array.isArray(recorded) === Array.isArray(actual)) {
    for (const key of new Set([...Object.keys(recorded), ...Object.keys(actual)])) {
      const memberPath = path === '' ? key : `${path}.${key}`
      const fault = describeMemberDifference(recorded[key], actual[key], memberPath)
      if (fault !== undefined) return fault
    }
    return undefined
  }
  if (JSON.stringify(recorded) === JSON.stringify(actual)) return undefined
  return `"${path}" was ${excerpt(recorded)}, and is ${excerpt(actual)}`
}

function isContainer(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null
}

function excerpt(value: unknown): string {
  const text: string | undefined = JSON.stringify(value)
  if (text === undefined) return 'not there'
  return text.length > EXCERPT_LENGTH ? `${text.slice(0, EXCERPT_LENGTH)}…` : text
}

function describeMessage(message: JsonRpcMessage): string {
  return 'method' in message ? `"${message.method}"` : 'a response'
}
