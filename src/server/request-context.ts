/**
 * What a handler gets beside its arguments, as one request makes it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server
 */
import { noInput, pushInput, type Input } from '../patterns/input.ts'
import { emptyRecording, ReplayInput } from '../patterns/replay.ts'
import type { AsJson } from '../patterns/steps.ts'
import { McpError } from '../protocol/errors.ts'
import { findMethod } from '../protocol/methods.ts'
import {
  notification,
  type JsonObject,
  type JsonRpcRequest,
  type RequestId,
} from '../protocol/jsonrpc.ts'
import type { Revision } from '../protocol/revisions.ts'
import type {
  CreateMessageParams,
  CreateMessageResult,
  InputRequest,
  LoggingLevel,
  Meta,
  ObjectSchema,
  Root,
} from '../protocol/types.ts'
import type { StandardSchema } from '../protocol/standard-schema.ts'
import { isObject, isRequestId } from '../protocol/validate.ts'
import {
  elicitForm,
  elicitUrl,
  type ElicitAnswer,
  type FormQuestion,
  type UrlAnswer,
  type UrlQuestion,
} from './elicitation.ts'
import { listRoots } from './roots.ts'
import { sample } from './sampling.ts'
import type { Auth, Caller, ClientFacts, Exchange } from './exchange.ts'
import { outgoingLogs, wants, type LogRules } from './logging.ts'
import type { Context } from './context.ts'

/** The context of one request. */
export class RequestContext implements Context {
  readonly exchange: Exchange
  readonly #message: JsonRpcRequest
  #progress = -Infinity
  #input: Input | undefined
  #done = false
  /** How log messages are scrubbed and bounded; set before any handler runs. */
  logs: LogRules | undefined
  /** The rounds of this request so far, if it asks by replay and has asked or was asked before. */
  replay: ReplayInput | undefined
  /** What the client sent in answer to an `input_required` result that the handler made itself. */
  inputResponses: { readonly [key: string]: unknown } | undefined
  /** How often the handler was run for this request before. */
  round = 0
  /** The state of an `input_required` result that the handler made itself. */
  requestState: string | undefined

  constructor(message: JsonRpcRequest, exchange: Exchange) {
    this.#message = message
    this.exchange = exchange
  }

  get method(): string {
    return this.#message.method
  }
  get id(): RequestId {
    return this.#message.id
  }
  get revision(): Revision {
    return this.exchange.revision.version
  }
  get client(): ClientFacts {
    return this.exchange.client
  }
  get caller(): Caller {
    return this.exchange.caller
  }
  get meta(): Meta {
    const meta = this.#message.params?._meta
    return isObject(meta) ? meta : {}
  }
  get principal(): string | undefined {
    return this.exchange.caller.principal
  }
  get auth(): Auth | undefined {
    return this.exchange.caller.auth
  }
  get env(): unknown {
    return this.exchange.caller.env
  }
  get request(): Request | undefined {
    return this.exchange.caller.request
  }
  get signal(): AbortSignal {
    return this.exchange.cancellation.signal
  }

  extension(id: string): JsonObject | undefined {
    const settings = this.client.capabilities.extensions?.[id]
    return isObject(settings) ? settings : undefined
  }

  waitUntil(work: Promise<unknown>): void {
    const { caller } = this.exchange
    if (caller.waitUntil) caller.waitUntil(work)
    else work.catch(console.error)
  }

  async progress(
    progress: number,
    options: { total?: number; message?: string } = {},
  ): Promise<void> {
    const progressToken = this.meta.progressToken
    if (!isRequestId(progressToken) || this.#done || !(progress > this.#progress)) return
    this.#progress = progress
    await this.exchange.send(
      notification('notifications/progress', { progressToken, progress, ...options }),
    )
  }

  async log(level: LoggingLevel, data: unknown, options: { logger?: string } = {}): Promise<void> {
    if (this.#done || !wants(this.exchange.logLevel, level)) return
    const message = { level, ...options, data }
    const receiver = this.exchange.session ?? this
    const messages = this.logs ? outgoingLogs(message, this.logs, receiver) : [message]
    for (const one of messages) {
      await this.exchange.send(notification('notifications/message', { ...one }))
    }
  }

  elicit<S extends StandardSchema | ObjectSchema>(
    question: FormQuestion<S>,
  ): Promise<ElicitAnswer<S>> {
    return unheeded(elicitForm(this, question))
  }

  elicitUrl(question: UrlQuestion): Promise<UrlAnswer> {
    return unheeded(elicitUrl(this, question))
  }

  sample(params: CreateMessageParams & { key?: string }): Promise<CreateMessageResult> {
    return unheeded(sample(this, params))
  }

  roots(): Promise<Root[]> {
    return unheeded(listRoots(this))
  }

  disconnect(retryMs = 1000): void {
    if (!this.#done) this.exchange.disconnect?.(retryMs)
  }

  step<T>(name: string, run: () => T | Promise<T>): Promise<AsJson<T>> {
    return this.input.step(name, run)
  }

  /** How this request asks the client. */
  get input(): Input {
    this.#input ??= this.#chooseInput()
    return this.#input
  }

  /** Ends what the handler can still send; called once it settled. */
  end(): void {
    this.#done = true
  }

  #chooseInput(): Input {
    const { ask, kept, rounds, revision, cancellation, session } = this.exchange
    if (ask) {
      const push = (request: InputRequest, sent?: (id: RequestId) => void): Promise<JsonObject> => {
        // Nothing carries the question once the answer is sent
        if (this.#done) throw new McpError('INVALID_USE', `"${this.method}" is answered already`)
        return ask(request, cancellation.signal, sent)
      }
      return kept ? (this.replay = kept.input(push)) : pushInput(push)
    }
    if (rounds && findMethod(this.method, revision)?.asks) {
      return (this.replay ??= new ReplayInput(emptyRecording(), this.inputResponses))
    }
    const lacks =
      revision.era === 'modern'
        ? '"tools/call", "prompts/get" or "resources/read"'
        : session
          ? 'an answer that is a stream'
          : 'a session that the server keeps'
    const what = `"${this.method}" cannot ask the client`
    return noInput(`${what}: in revision ${this.revision} that needs ${lacks}`)
  }
}

/** A question whose answer nobody may wait for, when another ended the run: that is no failure. */
function unheeded<T>(answer: Promise<T>): Promise<T> {
  answer.catch(() => {})
  return answer
}
