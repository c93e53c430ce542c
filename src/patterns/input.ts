/**
 * Requests for input from the client: one interface for handlers, with two implementations. `pushInput`
 * sends a request and waits for the response. `ReplayInput` of `replay.ts` ends the client's request
 * with a list of the needed input. When the client sends the request again with that input, the handler
 * runs again.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
import { SdkError } from '../protocol/errors.ts'
import type { InputRequest, JsonObject } from '../protocol/types.ts'
import { Steps, type AsJson } from './steps.ts'

/**
 * Thrown into a handler whose request for input has no response yet. The run ends even if the
 * handler catches the error.
 */
export class InputPending extends Error {
  override readonly name = 'InputPending'
}

/** One request for input from the client. */
export interface Question {
  readonly request: InputRequest
  /** Names the question across replays. By default its method and number, such as `roots/list#1`. */
  readonly key?: string | undefined
  /** Whether a response is acceptable. If not, `ReplayInput` requests the input again, and `pushInput` rejects. */
  readonly accepts: (answer: JsonObject) => boolean | Promise<boolean>
}

/** The functions with which a handler requests input from its client, and records its steps. */
export interface Input {
  /** Whether the client cannot be reached, so that every request is rejected. */
  readonly refuses?: boolean
  /** Resolves with the client's response. */
  ask(question: Question): Promise<JsonObject>
  /** Runs a side effect once, however often the handler runs; see {@link Steps}. */
  step<T>(name: string, run: () => T | Promise<T>): Promise<AsJson<T>>
}

/**
 * Requests input by sending a request and waiting: the handler runs once.
 *
 * @param send Sends the request to the client and resolves with its result.
 */
export function pushInput(send: (request: InputRequest) => Promise<JsonObject>): Input {
  const steps = new Steps(Object.create(null))
  return {
    async ask({ request, accepts }) {
      const answer = await send(request)
      if (await accepts(answer)) return answer
      throw invalidAnswer(request)
    },
    step: (name, run) => steps.run(name, run),
  }
}

/** The error for a response that does not match its request. */
export function invalidAnswer({ method }: InputRequest): SdkError {
  return new SdkError('INVALID_MESSAGE', `The client's answer to "${method}" is invalid`)
}

/**
 * Creates the `Input` for a client that cannot be reached. It rejects every request for input immediately.
 *
 * @param reason The error message.
 */
export function noInput(reason: string): Input {
  const steps = new Steps(Object.create(null))
  return {
    refuses: true,
    ask: () => Promise.reject(new SdkError('UNSUPPORTED', reason)),
    step: (name, run) => steps.run(name, run),
  }
}
