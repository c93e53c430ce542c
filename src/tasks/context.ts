/**
 * The context of a handler that works on a task. Progress becomes the task's status message, and
 * requests for input suspend the run until they are answered.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
import { noInput, type Input } from '../patterns/input.ts'
import type { ReplayInput } from '../patterns/replay.ts'
import { notification } from '../protocol/jsonrpc.ts'
import type { JsonRpcRequest } from '../protocol/types.ts'
import { isRequestId } from '../protocol/validate.ts'
import { RequestContext } from '../server/request/request-context.ts'
import type { Exchange } from '../server/request/exchange.ts'
import { NEEDS_SESSION } from '../server/request/ask-mode.ts'
import type { LogRules } from '../server/request/logging.ts'

/** Reports the status of a task to clients. */
export interface StatusReporter {
  /** Sets the status message of the task. */
  setStatusMessage(statusMessage: string): Promise<void>
}

/** The ids of tasks, by the context of the handler that works on the task. */
const taskIds = new WeakMap<object, string>()

/** The id of the task that a handler works on; `undefined` if the handler works on a call without a task. */
export function taskIdOf(ctx: object): string | undefined {
  return taskIds.get(ctx)
}

/** The context of one run of a handler for a task. */
export class TaskContext extends RequestContext {
  readonly #input: Input
  readonly #reporter: StatusReporter
  #lastProgress = -Infinity

  /** @param isUnreachable Whether requests for input must be rejected, because they cannot reach the client. */
  constructor(
    message: JsonRpcRequest,
    exchange: Exchange,
    logs: LogRules | undefined,
    input: ReplayInput,
    reporter: StatusReporter,
    isUnreachable = false,
  ) {
    super(message, exchange, logs)
    this.#input = isUnreachable ? unreachableInput(input, exchange) : input
    this.#reporter = reporter
    this.replay = input
    taskIds.set(this, String(message.id))
  }

  override get input(): Input {
    return this.#input
  }

  override async progress(
    progress: number,
    options: { total?: number; message?: string } = {},
  ): Promise<void> {
    const hasAdvanced = progress > this.#lastProgress
    if (!hasAdvanced || this.done) return
    this.#lastProgress = progress
    const { total, message = total === undefined ? `${progress}` : `${progress} of ${total}` } =
      options
    const { progressToken } = this.meta
    if (isRequestId(progressToken)) {
      const params = { progressToken, progress, ...options }
      void this.exchange.send(notification('notifications/progress', params))
    }
    await this.#reporter.setStatusMessage(message)
  }

  /** Does nothing, because no client waits on a connection for this run. */
  override disconnect(): void {}
}

/** Explains why a client without a session cannot be asked for input. */
export function unreachableReason({ revision: { version } }: Exchange): string {
  return `"tools/call" cannot ask the client: in revision ${version} that needs ${NEEDS_SESSION.needs}`
}

/** Replaces `ask` of an input with a function that rejects. Completed steps are still recorded. */
function unreachableInput(input: Input, exchange: Exchange): Input {
  return { ...noInput(unreachableReason(exchange)), step: (name, run) => input.step(name, run) }
}
