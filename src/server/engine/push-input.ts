/**
 * Asking the client while a request waits, which comes with whatever keeps sessions.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation
 */
import { pushInput, type Input } from '../../patterns/input.ts'
import { INTERNAL_ERROR, McpError, ProtocolError } from '../../protocol/errors.ts'
import type { JsonObject, RequestId } from '../../protocol/jsonrpc.ts'
import type { InputRequest } from '../../protocol/types.ts'
import type { Ask, AskingRun, PushMode, ReplayableCall } from '../request/ask-mode.ts'

/** The most rounds in which one request may ask with results that its handler made itself. */
const MAX_ROUNDS = 10

/** Asks at once whatever the handler of one request asks. */
export class PushInput implements PushMode {
  readonly kind = 'push'
  readonly ask: Ask
  readonly #call: ReplayableCall | undefined

  /** @param call The call that the request made, where another host can go on with it. */
  constructor(ask: Ask, call?: ReplayableCall) {
    this.ask = ask
    this.#call = call
  }

  createInput(run: AskingRun): Input {
    const push = (request: InputRequest, sent?: (id: RequestId) => void): Promise<JsonObject> => {
      // Nothing carries the question once the answer is sent
      if (run.done) throw new McpError('INVALID_USE', `"${run.method}" is answered already`)
      return this.ask(request, run.signal, sent)
    }
    if (!this.#call) return pushInput(push)
    return (run.replay = this.#call.createInput(push))
  }

  async askAll(
    requests: { readonly [key: string]: InputRequest },
    { round, signal }: AskingRun,
  ): Promise<{ [key: string]: JsonObject }> {
    if (round === MAX_ROUNDS) {
      throw new ProtocolError(INTERNAL_ERROR, `The handler asked in more than ${MAX_ROUNDS} rounds`)
    }
    const asked = Object.entries(requests).map(async ([key, request]) => {
      return [key, await this.ask(request, signal)] as const
    })
    return Object.fromEntries(await Promise.all(asked))
  }
}
