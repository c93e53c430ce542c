/**
 * Reads the standalone stream of a session. This module is loaded on demand.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server
 */
import { sleep } from '../../patterns/abort.ts'
import { mayReopen, wasStable } from '../../patterns/reopen.ts'
import { isTransient } from '../../patterns/transient.ts'
import { SdkError, statusOf } from '../../protocol/errors.ts'
import { HEADER_LAST_EVENT_ID } from '../../protocol/headers.ts'
import { discard } from '../http/client-fetch.ts'
import { readEvents, requireEventStream } from '../http/response-body.ts'
import type { SseParser } from '../http/sse.ts'
import { reopenDelayMs } from './channel.ts'
import type { ListeningChannel } from './listening-channel.ts'

// Arguments of the request for the stream. No call and no user action initiates this request
const NO_BODY = undefined
const NO_CALL = undefined
const IS_BACKGROUND = true

/**
 * Reads the standalone stream of a channel, and reopens it after disconnects, until `signal` aborts or the
 * session ends. Servers without the stream respond with 405.
 *
 * @param onGap Called when the stream has been reopened after an interruption, if the server does not replay the
 *   messages that it sent during the interruption.
 * @throws {SdkError} If the stream cannot be opened again.
 */
export async function keepStreamOpen(
  channel: ListeningChannel,
  signal: AbortSignal,
  onGap: () => void,
): Promise<void> {
  try {
    await readStreams(channel, signal, onGap)
  } catch (error) {
    if ((error as SdkError).code === 'SESSION_LOST') channel.receiver.sessionEnded()
    else if (!signal.aborted && statusOf(error) !== 405) throw error
  }
}

/** Reads one stream after the other, until an error is thrown. */
async function readStreams(
  channel: ListeningChannel,
  signal: AbortSignal,
  onGap: () => void,
): Promise<never> {
  const parser = channel.parser()
  let hasStreamed = false
  let attempts = 0
  let response = await openStream(channel, parser, signal, hasStreamed, attempts)
  for (; ; attempts++) {
    if (response) {
      hasStreamed = true
      const openedAt = performance.now()
      await readEvents(response, parser, signal).catch((error: unknown) => {
        // Any other error means that the connection was lost, so the stream is reopened
        if (error instanceof SdkError) throw error
      })
      if (wasStable(openedAt)) attempts = 0
    }
    const { lastEventId } = parser
    await sleep(reopenDelayMs(parser, attempts), signal)
    response = await openStream(channel, parser, signal, hasStreamed, attempts)
    // Without an event id, the stream could not be resumed, so the server replays no messages
    if (response && lastEventId === '') onGap()
  }
}

/**
 * Opens the next stream. Returns `undefined` after a temporary error.
 *
 * @param hasStreamed Whether the session has ever had a standalone stream. If so, the response 404 means that
 *   the session has ended.
 * @param attempts The number of earlier attempts to open the stream since the last stable stream.
 */
async function openStream(
  channel: ListeningChannel,
  parser: SseParser,
  signal: AbortSignal,
  hasStreamed: boolean,
  attempts: number,
): Promise<Response | undefined> {
  const { http, receiver } = channel
  const headers = channel.headers()
  const isResuming = parser.lastEventId !== ''
  if (isResuming) headers[HEADER_LAST_EVENT_ID] = parser.lastEventId
  try {
    // `http.send` does not treat 404 as the end of the session: some servers respond with 404 because they have no
    // standalone stream
    const response =
      hasStreamed || isResuming
        ? await channel.fetch('GET', headers, signal)
        : await http.send('GET', headers, NO_BODY, signal, NO_CALL, IS_BACKGROUND)
    if (response.status !== 400 || !isResuming) return await requireEventStream(response)
    // The server no longer has the event, so the next stream delivers only new messages
    parser.lastEventId = ''
    discard(response)
  } catch (error) {
    const { code } = error as SdkError
    if (code === 'UNAUTHORIZED') {
      receiver.reportError(error)
      await channel.untilSignedIn(signal)
      return undefined
    }
    // If the server has had the stream before, more kinds of errors are temporary
    const isTemporary = hasStreamed ? mayReopen(error) : isTransient(error)
    if (code === 'SESSION_LOST' || !isTemporary) throw error
    if (!isTransient(error) && attempts === 0) receiver.reportError(error)
  }
  return undefined
}
