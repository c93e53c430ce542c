/**
 * Sending input requests while the original request waits. Loaded with support for sessions.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation
 */
import { pushInput, type Input } from '../../patterns/input.ts'
import { SdkError, ProtocolError } from '../../protocol/errors.ts'
import { INTERNAL_ERROR } from '../../protocol/error-codes.ts'
import type { InputRequest, JsonObject, RequestId } from '../../protocol/types.ts'
import type { Ask, HandlerRun, PushMode, ReplayableCall } from '../request/ask-mode.ts'

/** The maximum number of `input_required` results that a handler may return for one request. */
const MAX_ROUNDS = 10

/** Sends the input requests of a handler immediately. */
export class PushAskMode implements PushMode {
  readonly kind = 'push'
  readonly ask: Ask
  readonly #call: ReplayableCall | undefined

  /** @param call The recorded call, if it can be resumed on another host. */
  constructor(ask: Ask, call?: ReplayableCall) {
    this.ask = ask
    this.#call = call
  }

  createInput(run: HandlerRun): Input {
    const push = (
      request: InputRequest,
      onIdAssigned?: (id: RequestId) => void,
    ): Promise<JsonObject> => {
      // After the response, no stream can carry the input request
      if (run.done) throw new SdkError('INVALID_USE', `"${run.method}" was already answered`)
      return this.ask(request, run.signal, onIdAssigned)
    }
    if (!this.#call) return pushInput(push)
    return (run.replay = this.#call.createInput(push))
  }

  async askAll(
    requests: { readonly [key: string]: InputRequest },
    { round, signal }: HandlerRun,
  ): Promise<{ [key: string]: JsonObject }> {
    if (round === MAX_ROUNDS) {
      throw new ProtocolError(
        INTERNAL_ERROR,
        `The handler asked for input more than ${MAX_ROUNDS} times`,
      )
    }
    const answers = Object.entries(requests).map(async ([key, request]) => {
      return [key, await this.ask(request, signal)] as const
    })
    return Object.fromEntries(await Promise.all(answers))
  }
}
