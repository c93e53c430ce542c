/**
 * Streamable HTTP with the standalone stream, on which a server with sessions sends messages that belong
 * to no request.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server
 */
import { sleep } from '../../patterns/abort.ts'
import { wasStable } from '../../patterns/backoff.ts'
import { isTransient, mayReopen } from '../../patterns/transient.ts'
import type { ChannelReceiver } from '../../protocol/channel.ts'
import { SdkError, statusOf } from '../../protocol/errors.ts'
import { HEADER_LAST_EVENT_ID } from '../../protocol/headers.ts'
import type { HttpOptions } from '../../protocol/http-options.ts'
import { discard } from '../http/client-fetch.ts'
import { readEvents, requireEventStream } from '../http/response-body.ts'
import type { SseParser } from '../http/sse.ts'
import { watchSignIn } from '../http/sign-in-watch.ts'
import { reopenDelayMs, StreamableHttpChannel } from './channel.ts'

// The arguments of the request for the stream, which no user action and no call initiates
const NO_BODY = undefined
const NO_CALL = undefined
const IS_BACKGROUND = true

/** Sends messages to one endpoint, and can listen to it. */
export class ListeningChannel extends StreamableHttpChannel {
  /** Waits until the server accepts a different token than the last rejected one. */
  readonly untilSignedIn: (signal: AbortSignal) => Promise<void>
  readonly #onGap: () => void
  #streamAbort = new AbortController()

  /**
   * @param onGap Called after an interruption, if the next stream does not replay the messages that were
   *   sent during it.
   */
  constructor(url: string, options: HttpOptions, receiver: ChannelReceiver, onGap: () => void) {
    const signInWatch = watchSignIn(options.fetch ?? fetch)
    super(url, { ...options, fetch: signInWatch.fetch }, receiver)
    this.untilSignedIn = signInWatch.untilSignedIn
    this.#onGap = onGap
  }

  /**
   * Identifies the user by the value of the `Authorization` header, so that the cached results of different
   * users stay separate.
   */
  async principal(): Promise<string> {
    const headers = await this.http.headers(this.http.facts('POST'), {})
    return headers.get('authorization') ?? ''
  }

  listen(): void {
    this.#streamAbort.abort()
    this.#streamAbort = new AbortController()
    const { signal } = this.#streamAbort
    this.#keepStreamOpen(signal).catch((error: SdkError) => {
      if (error.code === 'SESSION_LOST') {
        this.receiver.sessionEnded()
      } else if (!signal.aborted && statusOf(error) !== 405) {
        // Servers without the stream respond with 405
        this.receiver.reportError(error)
      }
    })
  }

  override close(): Promise<void> {
    this.#streamAbort.abort()
    return super.close()
  }

  override onSessionEnded(): void {
    super.onSessionEnded()
    this.#streamAbort.abort()
  }

  /** Reads the stream, and reopens it after disconnects, until it is aborted. */
  async #keepStreamOpen(signal: AbortSignal): Promise<never> {
    const parser = this.parser()
    let hasStreamed = false
    let response = await this.#openStream(parser, signal, hasStreamed, 0)
    for (let attempts = 0; ; attempts++) {
      if (response) {
        hasStreamed = true
        const openedAt = performance.now()
        await readEvents(response, parser, signal).catch((error: unknown) => {
          // Any other error means that the connection was lost
          if (error instanceof SdkError) throw error
        })
        if (wasStable(openedAt)) attempts = 0
      }
      const { lastEventId } = parser
      await sleep(reopenDelayMs(parser, attempts), signal)
      response = await this.#openStream(parser, signal, hasStreamed, attempts)
      // Only a resumed stream replays messages that were sent while disconnected
      if (response && lastEventId === '') this.#onGap()
    }
  }

  /**
   * Opens the next stream. Returns `undefined` after a temporary error.
   *
   * @param hasStreamed Whether the session ever had the stream. If it had, a 404 means that the session
   *   ended.
   * @param attempts How many attempts to reopen the stream precede this attempt, since the stream was last
   *   stable.
   */
  async #openStream(
    parser: SseParser,
    signal: AbortSignal,
    hasStreamed: boolean,
    attempts: number,
  ): Promise<Response | undefined> {
    const headers = this.headers()
    const resumes = parser.lastEventId !== ''
    if (resumes) headers[HEADER_LAST_EVENT_ID] = parser.lastEventId
    try {
      // Some servers reject the stream with 404 while the session continues
      const response =
        hasStreamed || resumes
          ? await this.fetch('GET', headers, signal)
          : await this.http.send('GET', headers, NO_BODY, signal, NO_CALL, IS_BACKGROUND)
      if (response.status !== 400 || !resumes) return await requireEventStream(response)
      // The server has discarded the event; a new stream delivers messages from now on
      parser.lastEventId = ''
      discard(response)
    } catch (error) {
      const { code } = error as SdkError
      if (code === 'UNAUTHORIZED') {
        this.receiver.reportError(error)
        await this.untilSignedIn(signal)
        return undefined
      }
      // Once the server has had the stream, more errors are temporary
      const isTemporary = hasStreamed ? mayReopen(error) : isTransient(error)
      if (code === 'SESSION_LOST' || !isTemporary) throw error
      if (!isTransient(error) && attempts === 0) this.receiver.reportError(error)
    }
    return undefined
  }
}
