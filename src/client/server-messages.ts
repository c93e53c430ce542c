/**
 * Handles the messages from the server: responses, requests and notifications.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic#messages
 */
import type { ChannelReceiver } from '../protocol/channel.ts'
import { SdkError, ProtocolError, toErrorObject } from '../protocol/errors.ts'
import { errorResponse, isResponse, resultResponse } from '../protocol/jsonrpc.ts'
import { methods } from '../protocol/methods.ts'
import type {
  LoggingMessageParams,
  ProgressParams,
  JsonRpcNotification,
  JsonRpcRequest,
  JsonRpcResponse,
} from '../protocol/types.ts'
import { isObject, readableId, validateMessage } from '../protocol/validate.ts'
import type { Call } from './call.ts'
import type { Connection } from './connection.ts'
import { onAbandoned } from './abandoned-requests.ts'
import { restoreSession } from './restore-session.ts'

/**
 * Creates the receiver of a connection's messages. The request on whose stream a message arrives is a
 * {@link Call}.
 */
export function createReceiver(connection: Connection): ChannelReceiver {
  const { options } = connection

  const receiveResponse = (message: JsonRpcResponse, call: Call | undefined): void => {
    const { id } = message
    // An error without an id belongs to the request on whose stream it arrived
    const answeredCall = id === undefined || id === null ? call : connection.calls.get(id)
    if (answeredCall && (answeredCall === call || !call)) return answeredCall.resolve(message)
    // A late or repeated response is normal. A response to a request that was never sent is an error
    if (call || (typeof id === 'number' && id <= connection.lastId))
      return options[onAbandoned]?.(id)
    connection.reportError(
      new SdkError('INVALID_MESSAGE', 'The server answered an unknown request'),
    )
  }

  const receiveRequest = (message: JsonRpcRequest, call: Call | undefined): void => {
    const { revision, serverCapabilities } = connection
    const { id, method } = message
    // Until the revision is known, the server may be a legacy server, which may send pings
    if (revision.era === 'modern' && (serverCapabilities || method !== 'ping')) {
      const errorMessage = `The server may not request "${method}"`
      connection.reportError(new SdkError('INVALID_MESSAGE', errorMessage))
    } else if (method === 'ping') connection.respond(resultResponse(id, {}))
    else connection.inputHandlers.answerRequest(message, call)
  }

  const receiveNotification = (message: JsonRpcNotification, call: Call | undefined): void => {
    const { method, params = {} } = message
    const uncheckedParams: unknown = params
    connection.runHook(() => options.onNotification?.(message))
    if (method === 'notifications/progress') {
      // Progress of completed or unknown requests is ignored
      connection.runHook(() =>
        connection.calls.get(params.progressToken)?.progress(uncheckedParams as ProgressParams),
      )
    } else if (method === 'notifications/message') {
      connection.runHook(() => call?.options.onLog?.(uncheckedParams as LoggingMessageParams))
      connection.runHook(() => options.onLog?.(uncheckedParams as LoggingMessageParams))
    } else {
      connection.inputHandlers.receive?.(message)
      connection.changes?.receive(message)
    }
  }

  const refuse = (frame: unknown, error: unknown): void => {
    if (!(error instanceof ProtocolError)) return connection.reportError(error)
    /** Defined if the frame is a request. */
    const requestId = readableId(frame)
    /** The call that the frame answers. */
    const answeredCall =
      requestId === undefined && isObject(frame) && connection.calls.get(frame.id)
    if (requestId !== undefined && connection.revision.era === 'legacy') {
      connection.respond(errorResponse(requestId, toErrorObject(error)))
    }
    const sdkError = new SdkError('INVALID_MESSAGE', error.message)
    if (answeredCall) answeredCall.reject(sdkError)
    else connection.reportError(sdkError)
  }

  return {
    get revision() {
      return connection.revision
    },
    nameParam(method) {
      return methods.get(method)?.nameParam ?? connection.nameParams.get(method)
    },
    receive(frame: unknown, call?: Call) {
      const frames = Array.isArray(frame) && connection.revision.batches ? frame : [frame]
      for (const item of frames) {
        try {
          const message = validateMessage(item)
          if (isResponse(message)) receiveResponse(message, call)
          else if ('id' in message) receiveRequest(message, call)
          else {
            connection.runHook(() =>
              connection.pass(message, { incoming: true }, (passed) =>
                receiveNotification(passed, call),
              ),
            )
          }
        } catch (error) {
          refuse(item, error)
        }
      }
    },
    refuse,
    reportError: (error) => connection.reportError(error),
    sessionEnded: () => connection.reportFailureOf(restoreSession(connection)),
    closed: (cause) => connection.rejectAll(cause),
  }
}
