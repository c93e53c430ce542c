/**
 * What is kept of a call while it is answered, so that it can be run again when its answer comes
 * after its host was replaced.
 */
import { emptyRecording, type Recording } from '../patterns/replay.ts'
import type { JsonObject, JsonRpcRequest, RequestId } from '../protocol/jsonrpc.ts'
import type { KeptCall } from './stream-store.ts'
import type { SessionStream, SessionStreams } from './streams.ts'

/** The record of one call; in memory only until the call has a stream. */
export class CallRecord {
  readonly call: KeptCall
  /** Where the call is answered, once it is known that this needs a stream. */
  stream: SessionStream | undefined
  readonly #streams: SessionStreams

  constructor(streams: SessionStreams, call: KeptCall, stream?: SessionStream) {
    this.#streams = streams
    this.call = call
    this.stream = stream
  }

  get recording(): Recording {
    return this.call.recording
  }

  get answers(): { readonly [key: string]: JsonObject } {
    return this.call.answers
  }

  /** Keeps what the handler asked and did. */
  keep(recording: Recording): void {
    this.call.recording = recording
    this.#save()
  }

  /** Notes that the client is asked something now. */
  asks(id: RequestId, key: string): void {
    this.call.asked[String(id)] = key
    this.#save()
  }

  /** Notes that nobody waits for that answer any more; kept with what is recorded next. */
  asked(id: RequestId): void {
    delete this.call.asked[String(id)]
  }

  #save(): void {
    if (this.stream) this.#streams.keep(this.stream)
  }
}

/** The record of a call that begins. */
export function newCall(request: JsonRpcRequest): KeptCall {
  return { request, recording: emptyRecording(), asked: {}, answers: {} }
}
