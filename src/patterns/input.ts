/**
 * Asking the client while a request is being answered: one interface for handlers, and the ways to
 * do it. `push` sends a request and waits. `ReplayInput` of `replay.ts` ends the request with what it
 * asks, and runs the handler again with the answers that the client's retry brings.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
import { McpError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { InputRequest } from '../protocol/types.ts'
import { Steps, type AsJson } from './steps.ts'

/** Thrown into a handler whose question has no answer yet. Swallowing it changes nothing. */
export class InputPending extends Error {
  override readonly name = 'InputPending'
}

/** One question to the client. */
export interface Question {
  readonly request: InputRequest
  /** Names the question across replays; by default its method and number, such as `roots/list#1`. */
  readonly key?: string | undefined
  /** Whether an answer will do; one that will not is asked for again. */
  readonly accepts: (answer: JsonObject) => boolean | Promise<boolean>
}

/** How a handler asks its client, and remembers what it did. */
export interface Input {
  /** Whether no way leads to the client, so that every question is refused. */
  readonly refuses?: boolean
  /** Resolves with the client's answer. */
  ask(question: Question): Promise<JsonObject>
  /** Runs a side effect once, however often the handler runs; see {@link Steps}. */
  step<T>(name: string, run: () => T | Promise<T>): Promise<AsJson<T>>
}

/**
 * Asks by sending a request and waiting: the handler runs once.
 *
 * @param send Puts the request to the client and resolves with its result.
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

/** The error of an answer that is not what was asked for. */
export function invalidAnswer({ method }: InputRequest): McpError {
  return new McpError('INVALID_MESSAGE', `The client's answer to "${method}" is invalid`)
}

/**
 * Refuses every question at once, where no way leads to the client.
 *
 * @param reason What the error says.
 */
export function noInput(reason: string): Input {
  const steps = new Steps(Object.create(null))
  return {
    refuses: true,
    ask: () => Promise.reject(new McpError('UNSUPPORTED', reason)),
    step: (name, run) => steps.run(name, run),
  }
}
