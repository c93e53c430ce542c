/**
 * Calls that outlive their host: what is kept of a call while it is answered, so that the answer
 * that its handler was waiting for can run it again elsewhere, with all that was asked and done.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import { invalidAnswer, type Question } from '../patterns/input.ts'
import { emptyRecording, ReplayInput, type Recording } from '../patterns/replay.ts'
import { INTERNAL_ERROR } from '../protocol/errors.ts'
import {
  errorResponse,
  type JsonObject,
  type JsonRpcMessage,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type RequestId,
} from '../protocol/jsonrpc.ts'
import type { InputRequest } from '../protocol/types.ts'
import type { LiveSession } from './pool.ts'
import type { PendingCall } from './stream-store.ts'
import type { SessionStream, SessionStreams } from './streams.ts'

/** Keeps calls, in a store whose streams are kept too. */
export interface CallStore {
  /** The record of a call that begins. */
  begin(live: LiveSession, request: JsonRpcRequest): CallRecord
  /** Takes over the calls of an earlier host: waits for the client, or says that the call is lost. */
  restore(live: LiveSession): void
  /** Takes the answer to a question of an earlier host; any other is ignored. */
  resume(live: LiveSession, response: JsonRpcResponse, run: RunAgain): Promise<void> | undefined
}

/** Runs the handler of a call again. */
export type RunAgain = (record: CallRecord, outlet: Outlet) => Promise<JsonRpcResponse | undefined>

/** Where the messages of one request go. */
export interface Outlet {
  /** Whether more than the response can be sent. */
  readonly streams: boolean
  send(message: JsonRpcMessage): Promise<void> | undefined
  disconnect(retryMs: number): void
}

/** Puts a request to the client; `sent` learns its id before it goes out. */
export type AskKept = (request: InputRequest, sent: (id: RequestId) => void) => Promise<JsonObject>

/** The record of one call; in memory only until the call has a stream. */
export class CallRecord {
  readonly call: PendingCall
  readonly #streams: SessionStreams
  #stream: SessionStream | undefined

  constructor(streams: SessionStreams, call: PendingCall, stream?: SessionStream) {
    this.#streams = streams
    this.call = call
    this.#stream = stream
  }

  /** Opens the stream on which the call is answered. */
  open(): SessionStream {
    return (this.#stream = this.#streams.open(this.call))
  }

  /** The input of the handler, which asks at once what has no answer yet. */
  input(ask: AskKept): ReplayInput {
    const { recording, answers } = this.call
    return new ReplayInput(recording, answers, {
      ask: (key, asked, question, current) => this.#ask(ask, key, asked, question, current),
      keep: (current) => this.#keep(current),
    })
  }

  async #ask(
    ask: AskKept,
    key: string,
    digest: string,
    { request, accepts }: Question,
    recording: Recording,
  ): Promise<JsonObject> {
    const { asked } = this.call
    recording.open[key] = digest
    this.#keep(recording)
    let id = ''
    const answer = await ask(request, (sent) => {
      id = String(sent)
      asked[id] = key
      this.#save()
    }).finally(() => delete asked[id])
    if (!(await accepts(answer))) throw invalidAnswer(request)
    recording.answers[key] = { asked: digest, answer }
    delete recording.open[key]
    this.#keep(recording)
    return answer
  }

  #keep(recording: Recording): void {
    this.call.recording = recording
    this.#save()
  }

  #save(): void {
    if (this.#stream) this.#streams.keep(this.#stream)
  }
}

/** Keeps calls in the store of their session's streams. */
export const resumableCalls: CallStore = {
  begin({ streams }, request) {
    return new CallRecord(streams, {
      request,
      recording: emptyRecording(),
      asked: {},
      answers: {},
    })
  },

  restore({ session, streams, waiting }) {
    for (const stream of streams.calls()) {
      const { request, asked } = stream.call as PendingCall
      const ids = Object.keys(asked)
      if (ids.length > 0) {
        for (const id of ids) waiting.set(id, stream)
        const { signal } = session.open(request.id)
        signal.addEventListener('abort', () => {
          for (const id of ids) waiting.delete(id)
          streams.end(stream)
        })
        continue
      }
      const message = 'The server was restarted while it answered the request'
      void stream.send(errorResponse(request.id, { code: INTERNAL_ERROR, message }))
      streams.end(stream)
    }
  },

  resume({ session, streams, waiting }, response, run) {
    // Questions have numbers as ids; the same as text answers none
    const id = typeof response.id === 'number' ? String(response.id) : ''
    const stream = waiting.get(id)
    if (!stream?.call) return undefined
    waiting.delete(id)
    takeAnswer(stream.call, id, response)
    streams.keep(stream)
    const { request, asked } = stream.call
    if (Object.keys(asked).length > 0) return undefined

    session.inFlight.delete(request.id)
    const outlet = {
      streams: true,
      send: stream.send.bind(stream),
      disconnect: stream.disconnectFor.bind(stream),
    }
    return run(new CallRecord(streams, stream.call, stream), outlet).then((answer) => {
      if (answer) void stream.send(answer)
      streams.end(stream)
    })
  },
}

function takeAnswer(call: PendingCall, id: string, response: JsonRpcResponse): void {
  const { asked, answers, recording } = call
  const key = asked[id] as string
  delete asked[id]
  if ('result' in response) {
    answers[key] = response.result
    return
  }
  recording.answers[key] = { asked: recording.open[key] as string, error: response.error }
  delete recording.open[key]
}
