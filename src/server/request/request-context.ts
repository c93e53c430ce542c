/**
 * The handler context of requests that may ask their client for input.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server
 */
import { InputPending, noInput, type Input } from '../../patterns/input.ts'
import { emptyRecording, inputPending, ReplayInput } from '../../patterns/replay.ts'
import type { AsJson } from '../../patterns/steps.ts'
import { notification } from '../../protocol/jsonrpc.ts'
import { findMethod } from '../../protocol/methods.ts'
import { serverFacts } from '../../protocol/server-facts.ts'
import type { StandardSchema } from '../../protocol/standard-schema.ts'
import type {
  CreateMessageParams,
  CreateMessageResult,
  LoggingLevel,
  ObjectSchema,
  Root,
  JsonRpcRequest,
} from '../../protocol/types.ts'
import type { Context } from './context.ts'
import {
  elicitForm,
  elicitUrl,
  type ElicitFormResult,
  type ElicitFormOptions,
  type ElicitUrlResult,
  type ElicitUrlOptions,
} from './elicitation.ts'
import { isMissingCapability, isUnanswered, isUnsupported } from './ask-errors.ts'
import { BaseRequestContext, TOOL_FAILED } from './base-request-context.ts'
import type { Exchange } from './exchange.ts'
import { outgoingLogs, isLevelEnabled, type LogRules } from './logging.ts'
import { listRoots } from './roots.ts'
import { sample } from './sampling.ts'

/** The context of one round, which is one run of a request's handler. Most requests have one round. */
export class RequestContext extends BaseRequestContext implements Context {
  #input: Input | undefined
  #pendingReports: (() => void)[] | undefined
  /** The settings for log messages. Without these settings, no log messages are sent. */
  logs: LogRules | undefined
  /**
   * The recording of earlier rounds. Absent until the handler asks for input, and in modes without
   * replay.
   */
  replay: ReplayInput | undefined
  /** The client's responses to an `input_required` result that the handler itself returned. */
  inputResponses: { readonly [key: string]: unknown } | undefined
  /** How many times the handler already ran for this request. */
  round = 0
  /** The state of an `input_required` result that the handler itself returned. */
  requestState: string | undefined

  constructor(message: JsonRpcRequest, exchange: Exchange, logs: LogRules | undefined) {
    super(message, exchange)
    this.logs = logs
  }

  /**
   * Handles an unexpected error, and returns the text that the model receives. The error is reported
   * at the end of the run. A suspended run drops its errors, because the handler runs again.
   *
   * @throws The error itself, if the client must receive it.
   */
  override handleFailure(error: unknown, report: () => void): string {
    if (error instanceof InputPending) throw error
    const isCapabilityMissing = isMissingCapability(error)
    if (isCapabilityMissing && serverFacts(this.exchange.revision).capabilityErrorCode) throw error
    if (isCapabilityMissing || isUnsupported(error)) return error.message
    ;(this.#pendingReports ??= []).push(report)
    return isUnanswered(error) ? error.message : TOOL_FAILED
  }

  override endRun(): ReplayInput | undefined {
    super.endRun()
    if (this.replay?.suspended) return this.replay
    this.#pendingReports?.forEach((report) => report())
    return undefined
  }

  /** @throws {InputPending} If input is pending, even if the handler caught an earlier `InputPending`. */
  throwIfSuspended(): void {
    if (this.replay?.suspended) throw inputPending()
  }

  async log(level: LoggingLevel, data: unknown, options: { logger?: string } = {}): Promise<void> {
    const { logLevel, session } = this.exchange
    if (!this.logs || this.done || !isLevelEnabled(logLevel, level)) return
    const messages = outgoingLogs({ level, ...options, data }, this.logs, session ?? this)
    // All are sent before the first `await`, because a handler may return without waiting for them
    await Promise.all(
      messages.map(async (message) =>
        this.exchange.send(notification('notifications/message', { ...message })),
      ),
    )
  }

  elicit<S extends StandardSchema | ObjectSchema>(
    question: ElicitFormOptions<S>,
  ): Promise<ElicitFormResult<S>> {
    return markHandled(elicitForm(this, question))
  }

  elicitUrl(question: ElicitUrlOptions): Promise<ElicitUrlResult> {
    return markHandled(elicitUrl(this, question))
  }

  sample(params: CreateMessageParams & { key?: string }): Promise<CreateMessageResult> {
    return markHandled(sample(this, params))
  }

  roots(): Promise<Root[]> {
    return markHandled(listRoots(this))
  }

  disconnect(retryMs = 1000): void {
    if (!this.done) this.exchange.disconnect?.(retryMs)
  }

  step<T>(name: string, run: () => T | Promise<T>): Promise<AsJson<T>> {
    return this.input.step(name, run)
  }

  /** The functions with which the handler requests input and records steps. */
  get input(): Input {
    this.#input ??= this.#chooseInput()
    return this.#input
  }

  #chooseInput(): Input {
    const { askMode: mode, revision } = this.exchange
    if (mode.kind === 'unavailable') return this.#noInput(mode.needs)
    if (mode.kind === 'push') return mode.createInput(this)
    if (!findMethod(this.method, revision)?.mayAsk) {
      return this.#noInput('"tools/call", "prompts/get" or "resources/read"')
    }
    return (this.replay ??= new ReplayInput(emptyRecording(), this.inputResponses))
  }

  /** Creates functions that reject every request for input. */
  #noInput(needs: string): Input {
    const problem = `"${this.method}" cannot ask the client`
    return noInput(`${problem}: in revision ${this.revision} that needs ${needs}`)
  }
}

/**
 * Marks the rejection of an input request as handled. When one input request ends the run, all other
 * pending input requests of the run reject too, and the handler may not await them.
 */
function markHandled<T>(answer: Promise<T>): Promise<T> {
  answer.catch(() => {})
  return answer
}
