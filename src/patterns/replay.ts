/**
 * Input by replay: the handler's steps and requests are recorded, sealed into `requestState`, and
 * replayed when the client sends the request again with responses.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
import { ProtocolError } from '../protocol/errors.ts'
import { INTERNAL_ERROR } from '../protocol/error-codes.ts'
import type { InputRequest, ErrorObject, JsonObject } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import { digest } from './digest.ts'
import { InputPending, type Input, type Question } from './input.ts'
import { Steps, type AsJson } from './steps.ts'

/** The answers, step values and open requests of a run, for the next run. It can be stored as JSON. */
export interface Recording {
  /** Responses by key, some of which are errors. `digest` identifies the request. */
  answers: { [key: string]: { digest: string } & ({ answer: JsonObject } | { error: ErrorObject }) }
  /** Values of steps by name; see {@link Steps}. */
  steps: { [name: string]: unknown }
  /** Digests of the requests last sent to the client, by key. */
  open: { [key: string]: string }
}

/** The error for a request for input that has no response yet. */
export function inputPending(): InputPending {
  return new InputPending(
    'The answer arrives with the next run of this handler: let this error pass',
  )
}

/** An empty recording, for a request that is made for the first time. */
export function emptyRecording(): Recording {
  return { answers: emptyObject(), steps: emptyObject(), open: emptyObject() }
}

/** Sends requests for input while the handler waits, and stores the recording in case the handler has to run again. */
interface CallRecorder {
  /**
   * Sends a question to the client, and records the response with the key and digest of its request. If
   * this method is absent, the run ends, and the requests are sent afterwards.
   */
  ask?(key: string, digest: string, question: Question, recording: Recording): Promise<JsonObject>
  /** Stores the current recording; the handler continues afterwards. */
  save(recording: Recording): void | Promise<void>
}

/** The input of one run of a handler. */
export class ReplayInput implements Input {
  readonly #recording: Recording
  readonly #responses: { [key: string]: unknown }
  readonly #recorder: CallRecorder | undefined
  /** The pending requests, each at the index at which the run made it. The array is sparse. */
  readonly #pending: { key: string; request: InputRequest; digest: string }[] = []
  /** The keys of all requests of this run. */
  readonly #keys = new Set<string>()
  readonly #inProgress = new Set<Promise<unknown>>()
  readonly #steps: Steps
  /** The number of the last request to which the handler gave no key. */
  #lastNumber = 0
  #nextIndex = 0
  /** The key of the first request that differs from the request with the same key in an earlier run. */
  #replacedKey: string | undefined
  #nonDeterminism: ProtocolError | undefined

  /**
   * @param recording The recording of earlier runs.
   * @param responses The client's `inputResponses`; unknown keys are ignored.
   * @param recorder Stores the recording. If it has the method `ask`, missing input does not end the run.
   */
  constructor(
    recording: Recording,
    responses: { [key: string]: unknown } = {},
    recorder?: CallRecorder,
  ) {
    this.#recording = {
      answers: Object.assign(emptyObject(), recording.answers),
      steps: Object.assign(emptyObject(), recording.steps),
      open: Object.assign(emptyObject(), recording.open),
    }
    this.#responses = responses
    this.#recorder = recorder
    this.#steps = new Steps(this.#recording.steps, () => recorder?.save(this.#recording))
  }

  /** Whether the run has no result, because the client must respond first or the replay diverged. */
  get suspended(): boolean {
    return this.#pending.length > 0 || this.#nonDeterminism !== undefined
  }

  ask(question: Question): Promise<JsonObject> {
    const { key, request } = question
    const index = this.#nextIndex++
    if (key === undefined) {
      return this.#track(this.#answer(`${request.method}#${++this.#lastNumber}`, question, index))
    }
    const isUsed = this.#keys.has(key)
    this.#keys.add(key)
    return this.#track(isUsed ? rejectDuplicateKey(key) : this.#answer(key, question, index))
  }

  step<T>(name: string, run: () => T | Promise<T>): Promise<AsJson<T>> {
    return this.#track(this.#steps.run(name, run))
  }

  /**
   * Waits until everything in progress has settled. Returns the requests for the client, and the
   * recording for the next run.
   *
   * @throws {ProtocolError} `INTERNAL_ERROR` if the handler made a different request than in an
   *   earlier run.
   */
  async finish(): Promise<{ requests: { [key: string]: InputRequest }; recording: Recording }> {
    while (this.#inProgress.size > 0) await Promise.allSettled(this.#inProgress)
    const { answers, steps, open: openBefore } = this.#recording
    if (this.#replacedKey !== undefined) {
      // If a key of an earlier run was not used now, another request has replaced the request with this key
      const hasUnusedKey = Object.keys({ ...answers, ...openBefore }).some(
        (key) => !this.#keys.has(key),
      )
      if (hasUnusedKey) this.#rejectNonDeterminism(this.#replacedKey)
    }
    if (this.#nonDeterminism) throw this.#nonDeterminism
    const requests: { [key: string]: InputRequest } = emptyObject()
    const open: { [key: string]: string } = emptyObject()
    this.#pending.forEach(({ key, request, digest }) => {
      requests[key] = request
      open[key] = digest
    })
    return { requests, recording: { answers, steps, open } }
  }

  /**
   * Returns the response to a question. If there is no response yet, sends the question and waits, or lists it as
   * pending and throws `InputPending`.
   *
   * @param proposedKey The question's own key, or else the number of the request.
   */
  async #answer(proposedKey: string, question: Question, index: number): Promise<JsonObject> {
    const { request, accepts } = question
    const requestDigest = await digest(request)
    const key =
      question.key === undefined
        ? this.#claimKey(proposedKey, requestDigest, request.method)
        : proposedKey
    const recordedDigest = this.#recordedDigest(key)
    if (recordedDigest !== undefined && recordedDigest !== requestDigest)
      throw this.#rejectNonDeterminism(key)
    const recorded = this.#recording.answers[key]
    if (recorded) {
      if ('answer' in recorded) return recorded.answer
      const { code, message, data } = recorded.error
      throw new ProtocolError(code, message, data)
    }
    // Only a key that the handler chose, not a numbered one, may have a response before its request
    const mayHaveResponse = recordedDigest !== undefined || question.key !== undefined
    const response =
      mayHaveResponse && Object.hasOwn(this.#responses, key) ? this.#responses[key] : undefined
    if (isObject(response) && (await accepts(response))) {
      this.#recording.answers[key] = { digest: requestDigest, answer: response }
      return response
    }
    if (this.#recorder?.ask)
      return this.#recorder.ask(key, requestDigest, question, this.#recording)
    this.#pending[index] = { key, request, digest: requestDigest }
    throw inputPending()
  }

  /** The digest of the request with a key, in an earlier run or in this run. */
  #recordedDigest(key: string): string | undefined {
    return this.#recording.answers[key]?.digest ?? this.#recording.open[key]
  }

  /**
   * Chooses the key of a request to which the handler gave none: its number, or the key under which
   * an earlier run made the same request. A handler that makes requests A and B concurrently may
   * make them in another order the next time: if A was `#1` and B was `#2`, and now B comes first,
   * its digest assigns `#2` to B.
   */
  #claimKey(numberedKey: string, requestDigest: string, method: string): string {
    const isFree = (key: string): boolean => !this.#keys.has(key) && key.startsWith(`${method}#`)
    const hasSameRequest = (key: string): boolean =>
      isFree(key) && this.#recordedDigest(key) === requestDigest
    const isUnused = (key: string): boolean =>
      isFree(key) && this.#recordedDigest(key) === undefined
    const { answers, open } = this.#recording
    let key: string | undefined = numberedKey
    if (!hasSameRequest(key) && !isUnused(key)) {
      key = Object.keys({ ...answers, ...open }).find(hasSameRequest)
    }
    if (key === undefined) {
      if (this.#recorder?.ask) throw this.#rejectNonDeterminism(numberedKey)
      this.#replacedKey ??= numberedKey
      do key = `${method}#${++this.#lastNumber}`
      while (!isUnused(key))
    }
    this.#keys.add(key)
    return key
  }

  #track<T>(work: Promise<T>): Promise<T> {
    this.#inProgress.add(work)
    const untrack = (): void => {
      this.#inProgress.delete(work)
    }
    work.finally(untrack).catch(() => {})
    return work
  }

  #rejectNonDeterminism(key: string): ProtocolError {
    this.#nonDeterminism ??= new ProtocolError(
      INTERNAL_ERROR,
      `The handler made another request as "${key}" when it ran again: move values that vary into ctx.step, or give requests keys`,
    )
    return this.#nonDeterminism
  }
}

async function rejectDuplicateKey(key: string): Promise<never> {
  throw new TypeError(`The key "${key}" is taken in this call: give each question its own`)
}

/** A record without a prototype, so that any text can be a key. */
function emptyObject(): { [key: string]: never } {
  return Object.create(null) as { [key: string]: never }
}
