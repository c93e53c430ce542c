/**
 * Observes what the server of a connection sends: requests, notifications and authentication challenges.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic#messages
 */
import {
  authorizationEnd,
  COMPLETE,
  runObserved,
  targetOf,
  type BeginOperation,
  type OngoingOperation,
} from '../patterns/guard-observer.ts'
import type { AuthProvider } from '../protocol/http-options.ts'
import type { Operation } from '../protocol/observation.ts'
import { readTrace } from '../protocol/trace-context.ts'
import type { JsonObject } from '../protocol/types.ts'
import type { Connection, ConnectionParts } from './connection.ts'
import type { ExtensionClient } from './extension.ts'
import type { InputHandlers } from './features.ts'

/** Matches the methods of the requests and notifications that servers send, including those of official extensions. */
const SERVER_METHODS =
  /^(?:elicitation\/create|sampling\/createMessage|roots\/list|notifications\/(?:cancelled|progress|message|elicitation\/complete|resources\/updated|(?:tools|prompts|resources)\/list_changed|subscriptions\/acknowledged|tasks(?:\/status)?|events\/(?:event|error|terminated|active|heartbeat|list_changed)))$/

/** What the parts of an observed connection share. */
export interface ObservationState {
  readonly begin: BeginOperation
  /** The server's requests that are being answered, by id. */
  readonly answering: Map<unknown, OngoingOperation>
}

/** What is known about every operation of a connection. */
export function factsOf({
  revision,
  server,
  channel,
}: Connection): Pick<Operation, 'side' | 'revision' | 'url' | 'http' | 'isPipe'> {
  const url = publicUrl(server.url)
  const http = url !== undefined || channel.http !== undefined
  return { side: 'client', revision: revision.version, url, http, isPipe: channel.isPipe }
}

/** A URL without its user information, query and fragment, which may contain credentials. */
function publicUrl(url: string | undefined): string | undefined {
  // Not parsed, because that takes more time than the rest of an operation
  return url?.replace(/[?#].*/s, '').replace(/\/\/[^/]*@/, '//')
}

/** Returns the parts of a connection that observes the messages and challenges of the server. */
export function observeConnectionParts(
  parts: ConnectionParts<ExtensionClient>,
  observation: ObservationState,
): ConnectionParts<ExtensionClient> {
  const { options, compose } = parts
  const { auth, onNotification } = options
  let connection: Connection | undefined
  return {
    ...parts,
    options: {
      ...options,
      ...(auth && { auth: observeAuth(auth, observation) }),
      onNotification(message) {
        const { method, params } = message
        const ongoing =
          connection && beginReceiving('notification', connection, observation, method, params)
        onNotification?.(message)
        ongoing?.end(COMPLETE)
      },
    },
    compose(opened) {
      connection = opened
      const composed = compose(opened)
      return {
        ...composed,
        inputHandlers: observeAnswers(composed.inputHandlers, opened, observation),
      }
    },
  }
}

/** Begins the operation of a message from the server. */
function beginReceiving(
  type: 'request' | 'notification',
  connection: Connection,
  { begin }: ObservationState,
  method: string,
  params: JsonObject | undefined,
  id?: string | number,
): OngoingOperation {
  const { side, revision, url, http, isPipe } = factsOf(connection)
  const { name, uri } = targetOf(params)
  return begin({
    type,
    side,
    direction: 'received',
    method,
    id,
    name,
    uri,
    isKnown: SERVER_METHODS.test(method),
    revision,
    url,
    http,
    isPipe,
    trace: readTrace(params),
    params: () => params,
  })
}

/** Observes the answers to the server's requests. */
function observeAnswers(
  handlers: InputHandlers,
  connection: Connection,
  observation: ObservationState,
): InputHandlers {
  const { answering } = observation
  const cancel = (id: unknown): void => {
    answering.get(id)?.end({ outcome: 'cancelled' })
    answering.delete(id)
  }
  return {
    get isAnswering() {
      return handlers.isAnswering ?? false
    },
    noteRequest: (message) => handlers.noteRequest?.(message),
    answerRequest(message, call) {
      const { id, method, params } = message
      const ongoing = beginReceiving('request', connection, observation, method, params, id)
      // If the server uses an id twice, which is forbidden, the first request may get no answer
      cancel(id)
      answering.set(id, ongoing)
      ongoing.run(() => handlers.answerRequest(message, call))
      // The request of a settled call gets no response
      if (call?.settled) cancel(id)
    },
    receive(message) {
      handlers.receive?.(message)
      if (message.method === 'notifications/cancelled') cancel(message.params?.requestId)
    },
    answerInputs: (...args) => handlers.answerInputs(...args),
    close: () => handlers.close?.(),
  }
}

/** Ends the operations of all requests that the client has not answered. */
export function cancelAll({ answering }: ObservationState): void {
  for (const ongoing of answering.values()) ongoing.end({ outcome: 'cancelled' })
  answering.clear()
}

/** Observes how the challenges of a server are handled. */
function observeAuth(auth: AuthProvider, { begin }: ObservationState): AuthProvider {
  return {
    ...(auth.extensions && { extensions: auth.extensions }),
    headers: (request) => auth.headers(request),
    onChallenge(response, request) {
      const ongoing = begin({
        type: 'authorization',
        side: 'client',
        http: true,
        url: publicUrl(request.server),
      })
      const work = (): ReturnType<AuthProvider['onChallenge']> =>
        auth.onChallenge(response, request)
      return runObserved(
        ongoing,
        work,
        (mayRetry) => (mayRetry ? COMPLETE : { outcome: 'failed' }),
        authorizationEnd,
      )
    },
    onResponse: (response, request) => auth.onResponse?.(response, request),
  }
}
