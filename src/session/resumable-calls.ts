/**
 * Calls that survive the process or Durable Object that serves them. Each call is stored while its handler runs. The
 * process may end while the client is asked for input. When the client answers, a new process runs the handler again,
 * with all previous steps and answers.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import { invalidAnswer, type Question } from '../patterns/input.ts'
import { emptyRecording, ReplayInput, type Recording } from '../patterns/replay.ts'
import { INTERNAL_ERROR } from '../protocol/error-codes.ts'
import { errorResponse } from '../protocol/jsonrpc.ts'
import type {
  InputRequest,
  JsonObject,
  JsonRpcMessage,
  JsonRpcRequest,
  JsonRpcResponse,
  RequestId,
} from '../protocol/types.ts'
import type { ResumableCall } from './event-store.ts'
import type { Session } from './session.ts'
import type { Streams } from './streams.ts'

/** Creates the resumable calls of sessions. */
export interface ResumableCallsFactory {
  /**
   * Creates the resumable calls of one session. A call of an earlier process that has asked the client for
   * input waits for the client's answer. All other calls of earlier processes are answered with an error.
   */
  open(session: Session, streams: Streams): ResumableCalls
}

/** Runs the handler of a call again. */
export type RunAgain = (
  call: ResumableCall,
  output: RequestOutput,
) => Promise<JsonRpcResponse | undefined>

/** Sends the messages that belong to one request. */
export interface RequestOutput {
  /** Whether messages other than the response can be sent. */
  readonly canStream: boolean
  send(message: JsonRpcMessage): Promise<void> | undefined
  /** Closes the connection, and asks the client to connect again after `retryMs` milliseconds. */
  disconnect(retryMs: number): void
}

/**
 * Sends a request to the client. Calls `onIdAssigned` with the id of the request before the request
 * is sent.
 */
type SendInputRequest = (
  request: InputRequest,
  onIdAssigned: (id: RequestId) => void,
) => Promise<JsonObject>

/** The calls of one session that can be run again. */
export class ResumableCalls {
  readonly #session: Session
  readonly #streams: Streams
  /** The calls of an earlier process, keyed by the ids of the JSON-RPC requests that the client has not answered. */
  readonly #suspended = new Map<string, ResumableCall>()

  constructor(session: Session, streams: Streams) {
    this.#session = session
    this.#streams = streams
    for (const call of streams.calls.keys()) this.#restore(call)
  }

  /** Creates the record of a new call. The record is stored when the call's stream is opened. */
  begin(request: JsonRpcRequest): ResumableCall {
    return { request, recording: emptyRecording(), unanswered: {}, answers: {} }
  }

  /**
   * Creates the object through which a call's handler requests input. The object sends each request as soon
   * as the handler makes the request, unless the client has already answered the request.
   */
  createInput(call: ResumableCall, send: SendInputRequest): ReplayInput {
    return new ReplayInput(call.recording, call.answers, {
      ask: async (key, digest, question, recording) => {
        recording.open[key] = digest
        void this.#save(call, recording)
        const answer = await this.#ask(call, key, question, send)
        recording.answers[key] = { digest, answer }
        delete recording.open[key]
        await this.#save(call, recording)
        return answer
      },
      save: (recording) => this.#save(call, recording),
    })
  }

  /**
   * Continues a call of an earlier process, if the response answers the last open input request of the call.
   * Ignores all other responses.
   *
   * @returns A promise that resolves when the call is answered; `undefined` if the call does not continue.
   */
  resume(response: JsonRpcResponse, run: RunAgain): Promise<void> | undefined {
    // The ids of the server's requests are numbers: a response with the string "1" does not answer request 1
    const id = typeof response.id === 'number' ? String(response.id) : ''
    const call = this.#suspended.get(id)
    const stream = call && this.#streams.calls.get(call)
    if (!stream) return undefined
    this.#suspended.delete(id)
    addAnswer(call, id, response)
    void this.#streams.saveCall(call)
    if (Object.keys(call.unanswered).length > 0) return undefined

    this.#session.closeRequest(call.request.id)
    const output = {
      canStream: true,
      send: stream.send.bind(stream),
      disconnect: stream.disconnectFor.bind(stream),
    }
    return run(call, output).then((answer) => {
      if (answer) void stream.send(answer)
      this.#streams.end(stream)
    })
  }

  /** Makes a call of an earlier process wait for the client's answers, or answers the call with an error. */
  #restore(call: ResumableCall): void {
    const stream = this.#streams.calls.get(call)
    const { request, unanswered } = call
    const ids = Object.keys(unanswered)
    if (ids.length > 0) {
      for (const id of ids) this.#suspended.set(id, call)
      const { signal } = this.#session.openRequest(request.id)
      signal.addEventListener('abort', () => {
        for (const id of ids) this.#suspended.delete(id)
        if (stream) this.#streams.end(stream)
      })
      return
    }
    const message = 'The server was restarted while it answered the request'
    void stream?.send(errorResponse(request.id, { code: INTERNAL_ERROR, message }))
    if (stream) this.#streams.end(stream)
  }

  async #ask(
    call: ResumableCall,
    key: string,
    { request, accepts }: Question,
    send: SendInputRequest,
  ): Promise<JsonObject> {
    let id = ''
    const answer = await send(request, (requestId) => {
      id = String(requestId)
      call.unanswered[id] = key
      void this.#streams.saveCall(call)
    }).finally(() => delete call.unanswered[id])
    if (!(await accepts(answer))) throw invalidAnswer(request)
    return answer
  }

  #save(call: ResumableCall, recording: Recording): void | Promise<void> {
    call.recording = recording
    return this.#streams.saveCall(call)
  }
}

/**
 * Stores calls with the open streams of their session, so that the calls can continue in another process.
 * Pass `resumableCalls` as the option `calls` of `statefulSessions`.
 *
 * @example
 * ```ts
 * import { createHandler, createServer, resumableCalls, statefulSessions } from 'edgewise/server'
 * import type { SessionStore } from 'edgewise/server'
 *
 * const server = createServer({ name: 'travel', version: '1.0.0' })
 * // The store must outlive the process
 * export const createTravelHandler = (store: SessionStore) =>
 *   createHandler(server, { sessions: statefulSessions({ store, calls: resumableCalls }) })
 * ```
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
export const resumableCalls: ResumableCallsFactory = {
  open: (session, streams) => new ResumableCalls(session, streams),
}

/** Adds the client's answer to an input request of a call whose handler is not running. */
export function addAnswer(call: ResumableCall, id: string, response: JsonRpcResponse): void {
  const { unanswered, answers: unvalidatedAnswers, recording } = call
  const key = unanswered[id] as string
  delete unanswered[id]
  if ('result' in response) {
    unvalidatedAnswers[key] = response.result
    return
  }
  // An error needs no validation, so it can be recorded before the handler runs again
  recording.answers[key] = { digest: recording.open[key] as string, error: response.error }
  delete recording.open[key]
}
