/**
 * The client side of Streamable HTTP with the standalone stream, on which a server with sessions sends messages that
 * belong to no request.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server
 */
import type { ChannelReceiver } from '../../protocol/channel.ts'
import type { HttpOptions } from '../../protocol/http-options.ts'
import { watchSignIn } from '../http/sign-in-watch.ts'
import { StreamableHttpChannel } from './channel.ts'

/** Reads the standalone stream of a channel, and reopens it after disconnects, until `signal` aborts. */
export type KeepStreamOpen = (channel: ListeningChannel, signal: AbortSignal) => Promise<void>

/** Sends messages to one endpoint, and can open the standalone stream of the endpoint. */
export class ListeningChannel extends StreamableHttpChannel {
  /** Waits until the server accepts a token that differs from the last rejected token. */
  readonly untilSignedIn: (signal: AbortSignal) => Promise<void>
  readonly #keepStreamOpen: KeepStreamOpen
  #streamAbort = new AbortController()

  constructor(
    url: string,
    options: HttpOptions,
    receiver: ChannelReceiver,
    keepStreamOpen: KeepStreamOpen,
  ) {
    const signInWatch = watchSignIn(options.fetch ?? fetch)
    super(url, { ...options, fetch: signInWatch.fetch }, receiver)
    this.untilSignedIn = signInWatch.untilSignedIn
    this.#keepStreamOpen = keepStreamOpen
  }

  /**
   * Identifies the user by the value of the `Authorization` header, so that the cached results of different
   * users stay separate.
   */
  async principal(): Promise<string> {
    const headers = await this.http.headers(this.http.facts('POST'), {})
    return headers.get('authorization') ?? ''
  }

  openStream(): void {
    this.#streamAbort.abort()
    this.#streamAbort = new AbortController()
    const reading = this.#keepStreamOpen(this, this.#streamAbort.signal)
    reading.catch((error: unknown) => this.receiver.reportError(error))
  }

  override close(): Promise<void> {
    this.#streamAbort.abort()
    return super.close()
  }

  override onSessionEnded(): void {
    super.onSessionEnded()
    this.#streamAbort.abort()
  }
}
