/**
 * A connection whose operations are observed. Only clients with an observer load this file.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
 */
import {
  COMPLETE,
  errorEnd,
  guardObserver,
  resultEnd,
  runObserved,
  targetOf,
  type OngoingOperation,
  type OperationEnd,
} from '../patterns/guard-observer.ts'
import type { Observer } from '../protocol/observation.ts'
import type { RevisionFacts } from '../protocol/revisions.ts'
import { withTrace } from '../protocol/trace-context.ts'
import type { JsonObject, JsonRpcResponse, Result } from '../protocol/types.ts'
import type { Call } from './call.ts'
import { Connection, type ConnectionParts } from './connection.ts'
import type { ExtensionClient } from './extension.ts'
import {
  cancelAll,
  factsOf,
  observeConnectionParts,
  type ObservationState,
} from './observed-connection-parts.ts'
import type { ClientObserver } from './options.ts'
import { reportError } from './report-error.ts'
import type { RequestOptions } from './request-options.ts'

/** The key of the internal request option that holds the round of an attempt. */
const currentRound: unique symbol = Symbol('currentRound')

/**
 * One round of a request: all of its attempts are one operation. After the server has asked for input, the request with
 * the answers is the next round.
 */
interface Round {
  method?: string
  ongoing?: OngoingOperation
  attempts: number
}

interface RoundOptions extends RequestOptions {
  readonly [currentRound]?: Round
}

/**
 * Observes the operations of a client, for audit logs, metrics and traces: a value for the option
 * `observe` of `connect`. The observer is called when an operation begins. The `end` of the object that it
 * returns is called when the operation ends.
 *
 * @example
 * ```ts
 * import { clientObserver, connect } from 'edgewise/client'
 *
 * const observe = clientObserver((operation) => ({
 *   end: (outcome) => console.log(JSON.stringify({ ...operation, ...outcome })),
 * }))
 * await using client = await connect('https://example.com/mcp', { observe })
 * ```
 *
 * @param observer Called for each operation; it should return immediately. Its exceptions are passed to
 *   `onError`.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
 */
export function clientObserver(observer: Observer): ClientObserver {
  return {
    connect: (parts) => new ObservedConnection(parts as ConnectionParts<ExtensionClient>, observer),
  }
}

/** Ends a round, and resets its object, so that the next round can use the object again. */
function endRound(round: Round, end: OperationEnd): void {
  const { ongoing, attempts } = round
  ongoing?.end({ ...end, ...(attempts > 1 && { attempts }) })
  Object.assign(round, { ongoing: undefined, attempts: 0 })
}

/** Reports the operations of a client to an observer. */
class ObservedConnection extends Connection {
  readonly #observation: ObservationState
  #session: OngoingOperation | undefined

  constructor(parts: ConnectionParts<ExtensionClient>, observer: Observer) {
    const begin = guardObserver(observer, (error) => reportError(parts.options, error))
    const observation: ObservationState = { begin, answering: new Map() }
    super(observeConnectionParts(parts, observation))
    this.#observation = observation
  }

  override start(
    method: string,
    params: JsonObject | undefined,
    options: RoundOptions = {},
    headers?: Readonly<Record<string, string>>,
  ): Call {
    const { [currentRound]: round } = options
    // While a round recovers from a failure, it also sends requests of other methods
    if (round) round.method ??= method
    const isAttempt = round?.method === method
    const id = this.lastId + 1
    const ongoing =
      (isAttempt && round.ongoing) || this.#beginSending('request', method, params, id)
    if (isAttempt) {
      round.ongoing = ongoing
      round.attempts++
    }
    const tracedParams = withTrace(params, ongoing.trace)
    // Removes the round, because code that receives the options of the call may use them for other requests
    const callOptions = Object.assign({}, options, { [currentRound]: undefined })
    const call = ongoing.run(() => super.start(method, tracedParams, callOptions, headers))
    if (!isAttempt) {
      call.result.then(
        (result) => ongoing.end(resultEnd(result)),
        (error: unknown) => ongoing.end(errorEnd(error)),
      )
    }
    return call
  }

  override async request(
    options: RoundOptions,
    send: (options: RequestOptions) => Promise<Result>,
  ): Promise<Result> {
    const { [currentRound]: outerRound } = options
    const round = outerRound ?? { attempts: 0 }
    // On Node 20, adding members to a spread object takes microseconds
    const roundOptions: RoundOptions = Object.assign({}, options, { [currentRound]: round })
    try {
      const result = await send(roundOptions)
      endRound(round, resultEnd(result))
      return result
    } catch (error) {
      // An outer round goes on: the code that created it sends another attempt, or ends the round
      if (!outerRound) endRound(round, errorEnd(error))
      throw error
    }
  }

  override async notify(method: string, params?: JsonObject): Promise<void> {
    const ongoing = this.#beginSending('notification', method, params)
    await runObserved(ongoing, () => super.notify(method, withTrace(params, ongoing.trace)))
  }

  override respond(response: JsonRpcResponse): void {
    super.respond(response)
    const { answering } = this.#observation
    const end = 'error' in response ? errorEnd(response.error) : resultEnd(response.result)
    answering.get(response.id)?.end(end)
    answering.delete(response.id)
  }

  override applyServerInfo(
    revision: RevisionFacts,
    description: { capabilities?: unknown; serverInfo?: unknown; instructions?: unknown },
  ): void {
    super.applyServerInfo(revision, description)
    this.#session?.end(COMPLETE)
    if (revision.era !== 'legacy') return
    this.#session = this.#observation.begin({ ...factsOf(this), type: 'session' })
  }

  override rejectAll(cause?: Error): void {
    super.rejectAll(cause)
    this.#session?.end(cause ? errorEnd(cause) : COMPLETE)
    cancelAll(this.#observation)
  }

  #beginSending(
    type: 'request' | 'notification',
    method: string,
    params: JsonObject | undefined,
    id?: number,
  ): OngoingOperation {
    const { side, revision, url, http, isPipe } = factsOf(this)
    const { name, uri } = targetOf(params)
    // Without spreads, which are slow, because this is part of every observed call
    return this.#observation.begin({
      type,
      side,
      direction: 'sent',
      method,
      id,
      name,
      uri,
      isKnown: true,
      revision,
      url,
      http,
      isPipe,
      params: () => params,
    })
  }
}
