/**
 * The messages between two Workers over a service binding. They are JSON text, so that neither end
 * receives anything that JSON cannot represent, such as stubs or cycles.
 *
 * @see https://developers.cloudflare.com/workers/runtime-apis/rpc/
 */
import { RpcTarget } from 'cloudflare:workers'
import { parseJson } from '#internal/connection'
import { ErrorCode, ProtocolError, SdkError } from '../../src/index.ts'

/** The largest argument or return value of an RPC call on Workers, in bytes. */
const MAX_RPC_BYTES = 32 * 1024 * 1024
/** The number of bytes that are reserved for the parts of an RPC call other than the text. */
const OVERHEAD_BYTES = 1024

/**
 * Checks that a message can be sent, and returns it.
 *
 * @throws {SdkError} `LIMIT_EXCEEDED` if the message exceeds the limit of Workers RPC.
 */
export function requireSendable(text: string): string {
  const maxBytes = MAX_RPC_BYTES - OVERHEAD_BYTES
  // A string is sent with one byte per character if all its characters are Latin-1, and otherwise with two
  const fits = text.length <= maxBytes / 2 || (text.length <= maxBytes && isLatin1(text))
  if (fits) return text
  throw new SdkError('LIMIT_EXCEEDED', 'The message exceeds 32 MiB, the limit of Workers RPC')
}

function isLatin1(text: string): boolean {
  return !/[^\0-\xff]/.test(text)
}

/**
 * Parses a message from the other Worker. The message may be anything, because that Worker may use another
 * version of Edgewise, or code of its own.
 *
 * @throws {ProtocolError} If the message is not JSON text.
 */
export function parseText(text: unknown): unknown {
  if (typeof text === 'string') return parseJson(text)
  throw new ProtocolError(ErrorCode.PARSE_ERROR, 'Parse error: the message is not a string')
}

/** The client side of a connection between Workers. Receives the server's notifications and requests. */
export class RpcReceiver extends RpcTarget {
  readonly #onMessage: (text: unknown) => void
  readonly #onClosed: () => void

  /** @param onClosed Called when the other Worker has released this object, or has ended. */
  constructor(onMessage: (text: unknown) => void, onClosed: () => void) {
    super()
    this.#onMessage = onMessage
    this.#onClosed = onClosed
  }

  /** Receives a notification or a request from the server. */
  receive(text: string): void {
    this.#onMessage(text)
  }

  [Symbol.dispose](): void {
    this.#onClosed()
  }
}
