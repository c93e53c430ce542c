/**
 * The context that every handler receives in addition to its arguments.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server
 */
import type { ReplayInput } from '../../patterns/replay.ts'
import { notification } from '../../protocol/jsonrpc.ts'
import type { Revision } from '../../protocol/revisions.ts'
import type { Meta, JsonObject, JsonRpcRequest, RequestId } from '../../protocol/types.ts'
import { isObject, isRequestId } from '../../protocol/validate.ts'
import type { Auth, Caller, ClientFacts, Exchange } from './exchange.ts'
import type { BaseContext, Context } from './context.ts'

/** The text that the model receives for an unexpected error. */
export const TOOL_FAILED = 'The tool failed'

/** The context of one request. */
export class BaseRequestContext implements BaseContext {
  /** The server whose handler runs. Set before each run. */
  declare server: { report(error: unknown, ctx?: BaseRequestContext): void }
  readonly exchange: Exchange
  readonly message: JsonRpcRequest
  /** The params of the request, as changed by middleware. */
  params: JsonObject
  #lastProgress = -Infinity
  /** Whether the handler has settled. Nothing can be sent afterwards. */
  done = false
  constructor(message: JsonRpcRequest, exchange: Exchange) {
    this.message = message
    this.params = message.params ?? {}
    this.exchange = exchange
  }

  get method(): string {
    return this.message.method
  }
  get id(): RequestId {
    return this.message.id
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
    const meta = this.params._meta
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
    const reported = work.catch((error: unknown) => this.server.report(error, this))
    this.caller.waitUntil?.(reported)
  }

  async progress(
    progress: number,
    options: { total?: number; message?: string } = {},
  ): Promise<void> {
    const progressToken = this.meta.progressToken
    const hasAdvanced = progress > this.#lastProgress
    if (!hasAdvanced || !isRequestId(progressToken) || this.done) return
    this.#lastProgress = progress
    await this.exchange.send(
      notification('notifications/progress', { progressToken, progress, ...options }),
    )
  }

  /**
   * Handles an unexpected error, and returns the text that the model receives.
   *
   * @param report Reports the error. Subclasses may call it later.
   */
  handleFailure(_error: unknown, report: () => void): string {
    report()
    return TOOL_FAILED
  }

  /**
   * Ends the run of the handler. Nothing can be sent afterwards. Returns the input requests whose
   * responses the handler needs before it can finish, if there are any.
   */
  endRun(): ReplayInput | undefined {
    this.done = true
    return undefined
  }
}

/**
 * The type with which the server itself uses the context of a request. Handlers receive the context
 * as a {@link Context} or a narrower type.
 */
export type InternalContext = BaseRequestContext & Context
