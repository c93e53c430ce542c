/**
 * How a request can ask its client for input, and the options of such input requests.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
import type { Input } from '../../patterns/input.ts'
import type { ReplayInput } from '../../patterns/replay.ts'
import type { Sealer, Secrets } from '../../patterns/sealed-state.ts'
import type { InputRequest, JsonObject, RequestId } from '../../protocol/types.ts'

/** How clients are asked for input while their request is being handled. */
export interface InputOptions {
  /**
   * How long a client may take to respond to an input request, in milliseconds.
   *
   * @default 300000
   */
  inputTimeoutMs?: number
  /**
   * Secrets of at least 16 characters that encrypt state passed through clients: the first
   * secret encrypts, and all secrets can decrypt. All instances of a server need the same secrets. By default
   * each handler or connection generates a secret, so that a multi-round-trip request can be continued only
   * on the handler or connection where it began.
   */
  secrets?: Secrets
  /**
   * How long a multi-round-trip request can be continued, in milliseconds.
   *
   * @default 900000
   */
  stateTtlMs?: number
  /**
   * The maximum size of the state of a multi-round-trip request, in bytes.
   *
   * @default 65536
   */
  maxStateBytes?: number
}

/** How a request can ask its client for input. */
export type AskMode = PushMode | ReplayMode | UnavailableMode

/** The part of a handler's run that input requests need. */
export interface HandlerRun {
  readonly method: string
  readonly signal: AbortSignal
  /** Whether the handler has settled. */
  readonly done: boolean
  /** How many times the handler already ran for this request. */
  readonly round: number
  /** The recording of the handler's input requests and steps. Set only if they are recorded. */
  replay: ReplayInput | undefined
}

/** The server sends requests to the client while the original request waits. */
export interface PushMode {
  readonly kind: 'push'
  readonly ask: Ask
  /** Creates the object through which one run of the handler requests input. */
  createInput(run: HandlerRun): Input
  /**
   * Requests the input that is listed in an `input_required` result that the handler itself returned.
   *
   * @throws {ProtocolError} `INTERNAL_ERROR` if the handler exceeds the limit of rounds.
   */
  askAll(
    requests: { readonly [key: string]: InputRequest },
    run: HandlerRun,
  ): Promise<{ [key: string]: JsonObject }>
}

/**
 * The request ends with an `input_required` result. The client then repeats the request, with the
 * responses and the sealed state.
 */
export interface ReplayMode {
  readonly kind: 'replay'
  readonly sealer: Sealer
  /** How long a `requestState` is accepted, in milliseconds. */
  readonly stateTtlMs: number
  /** The maximum size of a `requestState` that is created or accepted, in bytes of text. */
  readonly maxStateBytes: number
}

/** The client cannot be asked for input. */
export interface UnavailableMode {
  readonly kind: 'unavailable'
  /** What the server would need to ask the client. Part of an error message. */
  readonly needs: string
}

/** The mode of requests without a session, in revisions that have sessions. Such requests cannot ask for input. */
export const NEEDS_SESSION: UnavailableMode = {
  kind: 'unavailable',
  needs: 'a stateful session',
}

/**
 * Sends a request to the client and waits for the response. `onIdAssigned` is called with the
 * request's id before the request is sent.
 */
export type Ask = (
  request: InputRequest,
  signal: AbortSignal,
  onIdAssigned?: (id: RequestId) => void,
) => Promise<JsonObject>

/**
 * A call with a stored recording, so that its handler can run again after the process was replaced.
 */
export interface ReplayableCall {
  /**
   * Creates the object through which the handler requests input, and immediately sends all recorded
   * requests that have no response yet.
   */
  createInput(
    ask: (request: InputRequest, onIdAssigned: (id: RequestId) => void) => Promise<JsonObject>,
  ): ReplayInput
}
