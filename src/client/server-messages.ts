/**
 * What arrives from the server: answers to requests, and what it sends on its own.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic#messages
 */
import type { ChannelReceiver } from '../protocol/channel.ts'
import { McpError, ProtocolError, toErrorObject } from '../protocol/errors.ts'
import {
  errorResponse,
  isResponse,
  resultResponse,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
} from '../protocol/jsonrpc.ts'
import { methods } from '../protocol/methods.ts'
import type { RevisionFacts } from '../protocol/revisions.ts'
import type { LoggingMessageParams, ProgressParams } from '../protocol/types.ts'
import { isObject, readableId, validateMessage } from '../protocol/validate.ts'
import type { Call } from './call.ts'
import type { Connection } from './connection.ts'
import { givenUp } from './given-up.ts'
import { restoreSession } from './restore-session.ts'

/** Receives the messages of one connection. A call that comes with one is always a {@link Call}. */
export class ServerMessages implements ChannelReceiver {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  get revision(): RevisionFacts {
    return this.#connection.revision
  }

  nameParam(method: string): string | undefined {
    const { extensions } = this.#connection.options
    const adds = extensions?.find(({ nameParams }) => nameParams[method])
    return methods.get(method)?.nameParam ?? adds?.nameParams[method]
  }

  receive(frame: unknown, call?: Call): void {
    const frames = Array.isArray(frame) && this.revision.batches ? frame : [frame]
    for (const one of frames) {
      try {
        const message = validateMessage(one)
        if (isResponse(message)) this.#response(message, call)
        else if ('id' in message) this.#request(message, call)
        else this.#notification(message, call)
      } catch (error) {
        this.refuse(one, error)
      }
    }
  }

  #response(message: JsonRpcResponse, call: Call | undefined): void {
    const connection = this.#connection
    const { id } = message
    // An error without an id is about the request on whose stream it came
    const waiting = id === undefined || id === null ? call : connection.calls.get(id)
    if (waiting && (waiting === call || !call)) return waiting.resolve(message)
    // A late answer, or a second one, is normal; one to a request that never was is not
    if (call || (typeof id === 'number' && id <= connection.lastId)) {
      return connection.options[givenUp]?.(id)
    }
    this.reportError(new McpError('INVALID_MESSAGE', 'The server answered no request'))
  }

  #request(message: JsonRpcRequest, call: Call | undefined): void {
    const { revision, serverCapabilities, input } = this.#connection
    const { id, method } = message
    // While it is not known yet what the server is, it may be one that pings
    if (revision.era === 'modern' && (serverCapabilities || method !== 'ping')) {
      const what = `The server may not request "${method}"`
      this.reportError(new McpError('INVALID_MESSAGE', what))
    } else if (method === 'ping') this.#connection.respond(resultResponse(id, {}))
    else input.answerRequest(message, call)
  }

  #notification(message: JsonRpcNotification, call: Call | undefined): void {
    const connection = this.#connection
    const { options, input, changes } = connection
    const { method, params = {} } = message
    const said: unknown = params
    connection.hook(() => options.onNotification?.(message))
    if (method === 'notifications/progress') {
      // Progress of a request that is over, or never was, is of no interest
      connection.hook(() =>
        connection.calls.get(params.progressToken)?.progress(said as ProgressParams),
      )
    } else if (method === 'notifications/message') {
      connection.hook(() => call?.options.onLog?.(said as LoggingMessageParams))
      connection.hook(() => options.onLog?.(said as LoggingMessageParams))
    } else if (method === 'notifications/cancelled') {
      changes?.endRequest(params.requestId)
      input.cancelRequest(params.requestId, params.reason)
    } else changes?.take(message)
  }

  refuse(frame: unknown, error: unknown): void {
    if (!(error instanceof ProtocolError)) return this.reportError(error)
    const connection = this.#connection
    const asked = readableId(frame)
    const call = asked === undefined && isObject(frame) && connection.calls.get(frame.id)
    if (asked !== undefined && this.revision.era === 'legacy') {
      connection.respond(errorResponse(asked, toErrorObject(error)))
    }
    const problem = new McpError('INVALID_MESSAGE', error.message)
    if (call) call.reject(problem)
    else this.reportError(problem)
  }

  reportError(error: unknown): void {
    this.#connection.reportError(error)
  }

  gap(): void {
    this.#connection.changes?.gap()
  }

  sessionEnded(): void {
    this.#connection.watch(restoreSession(this.#connection))
  }

  closed(cause?: Error): void {
    this.#connection.closed(cause)
  }
}
