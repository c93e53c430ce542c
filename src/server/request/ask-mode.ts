/**
 * How one request can ask its client for input, and how hosts set that up.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
import type { Input } from '../../patterns/input.ts'
import type { ReplayInput } from '../../patterns/replay.ts'
import type { Sealer, Secrets } from '../../patterns/sealed-state.ts'
import type { JsonObject, RequestId } from '../../protocol/jsonrpc.ts'
import type { InputRequest } from '../../protocol/types.ts'

/** How clients are asked while a request of theirs is answered. */
export interface InputOptions {
  /** Milliseconds in which a client must answer what it is asked; 300,000 by default. */
  inputTimeoutMs?: number
  /**
   * Secrets of 16 characters or more that seal what travels through clients; the first seals, all
   * open. Every instance of a server needs the same. By default each handler, or connection, makes
   * its own, so that rounds of input work only where they began.
   */
  secrets?: Secrets
  /** Milliseconds for which a round of input can be continued; 900,000 by default. */
  stateTtlMs?: number
  /** The longest state of a round of input, in bytes; 65,536 by default. */
  maxStateBytes?: number
}

/** How one request can ask its client for input. */
export type AskMode = PushMode | ReplayMode | UnavailableMode

/** One run of a handler, as far as it matters for asking. */
export interface AskingRun {
  readonly method: string
  readonly signal: AbortSignal
  /** Whether the handler has settled. */
  readonly done: boolean
  /** How often the handler was run for this request before. */
  readonly round: number
  /** Set where what the handler asks and does is recorded. */
  replay: ReplayInput | undefined
}

/** The client is asked while the request waits. */
export interface PushMode {
  readonly kind: 'push'
  readonly ask: Ask
  /** Makes the input of one run of the handler. */
  createInput(run: AskingRun): Input
  /**
   * Asks for what an `input_required` result that the handler made itself asks for.
   *
   * @throws {ProtocolError} `INTERNAL_ERROR` when the handler does so once too often.
   */
  askAll(
    requests: { readonly [key: string]: InputRequest },
    run: AskingRun,
  ): Promise<{ [key: string]: JsonObject }>
}

/** The request ends with its questions, and comes again with the answers and the sealed state. */
export interface ReplayMode {
  readonly kind: 'replay'
  readonly sealer: Sealer
  /** Milliseconds for which a `requestState` is accepted. */
  readonly stateTtlMs: number
  /** The longest `requestState` that is made or accepted, in bytes of text. */
  readonly maxStateBytes: number
}

/** The client cannot be asked. */
export interface UnavailableMode {
  readonly kind: 'unavailable'
  /** What it would take. */
  readonly needs: string
}

/** The mode of requests of older revisions that came without a session: they cannot ask. */
export const NEEDS_SESSION: UnavailableMode = {
  kind: 'unavailable',
  needs: 'a session that the server keeps',
}

/**
 * Sends a request to the client and waits for its answer. `sent` learns the id of the request before
 * it goes out.
 */
export type Ask = (
  request: InputRequest,
  signal: AbortSignal,
  sent?: (id: RequestId) => void,
) => Promise<JsonObject>

/** A call whose recording is stored, so that its handler can run again after its host was replaced. */
export interface ReplayableCall {
  /** The input of its handler, which asks at once what has no answer yet. */
  createInput(
    ask: (request: InputRequest, sent: (id: RequestId) => void) => Promise<JsonObject>,
  ): ReplayInput
}
