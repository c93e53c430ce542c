/**
 * A `fetch` that records every HTTP exchange and every message. Streams are passed on unchanged, so that aborting
 * and backpressure work as without it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import { isObject, type Fetch } from 'edgewise/browser'
import type { Exchange } from '../connection/traffic.ts'
import { tryParse } from '../json.ts'
import { redact } from '../secrets.ts'
import { tapEvents } from './event-stream.ts'
import { messagesOf } from './messages.ts'
import { now, type Body, type SessionRecord } from './record.ts'
import {
  redactRequestHeaders,
  redactRequestUrl,
  redactResponseHeaders,
  redactText,
} from './redact.ts'

/** The maximum length of recorded text that is not JSON, in characters. */
const MAX_TEXT_LENGTH = 100_000

/** Receives the events of an observed `fetch`. */
export interface ObserveHooks {
  /** Called with the id of the session, if the server created one. */
  onSession?(id: string): void
  /** Called when a request carried the user's credentials. */
  onSignedIn?(): void
  /** Called with every response. */
  onAnswer?(answer: Answer): void
  /** Called with the body of every JSON-RPC request. The returned object is updated during its exchange. */
  onRequest?(body: string): Exchange
}

/** A response of the server. */
export interface Answer {
  readonly url: string
  /** The HTTP status. */
  readonly status: number
  readonly statusText: string
  /** The media type; empty if it is unknown. */
  readonly contentType: string
  /** The body; empty if it is a stream. */
  readonly text: string
  /** Whether the body is a message, or a stream of messages. */
  readonly isMessage: boolean
}

/** Where the records go. */
export interface RecordSink {
  add(record: SessionRecord): void
  /** Returns the number of the next HTTP exchange. */
  nextExchange(): number
  /** The secrets that requests carried. */
  readonly secrets: Set<string>
  /** The ids of sessions. */
  readonly sessionIds: Set<string>
}

/**
 * Wraps the `fetch` of one client.
 *
 * @param check The number of the check that the client belongs to, if it does.
 */
export function observedFetch(
  { add, nextExchange, secrets, sessionIds }: RecordSink,
  client: number,
  send: Fetch,
  { onSession, onSignedIn, onAnswer, onRequest }: ObserveHooks,
  check?: number,
): Fetch {
  return async (url, init) => {
    const http = nextExchange()
    const headers = new Headers(init.headers)
    const { method = 'GET', body, signal } = init
    const exchange = typeof body === 'string' ? onRequest?.(body) : undefined
    const update = (facts: Partial<Exchange>): void =>
      void (exchange && Object.assign(exchange, facts))
    add({
      type: 'request',
      at: now(),
      http,
      client,
      ...(check !== undefined && { check }),
      method,
      url: redactRequestUrl(url, secrets),
      headers: redactRequestHeaders(headers, secrets),
      ...bodyOf(body instanceof URLSearchParams ? String(body) : body),
    })
    if (headers.has('authorization')) onSignedIn?.()

    const abort = (): void => {
      update({ hasEnded: true })
      const reason: unknown = signal?.reason
      // The check has an `SdkError` of its own
      const isTimeout = reason instanceof Error && 'code' in reason && reason.code === 'TIMEOUT'
      add({
        type: 'end',
        at: now(),
        http,
        aborted: true,
        ...(isTimeout && { error: reason.message }),
      })
    }
    const end = (error?: unknown): void => {
      if (error !== undefined && signal?.aborted) return abort()
      update({ hasEnded: true })
      if (error === undefined) add({ type: 'end', at: now(), http })
      else add({ type: 'end', at: now(), http, error: String(error) })
    }
    const response = await send(url, init).catch((error: unknown) => {
      end(error)
      throw error
    })
    const { status, statusText, type } = response
    update({ openedAt: performance.now() })
    // Scripts cannot read such a response, so it has no status
    if (type === 'opaque') {
      add({ type: 'response', at: now(), http, status, statusText: '', headers: {} })
      end()
      return response
    }
    const session = response.headers.get('mcp-session-id')
    if (session !== null) {
      sessionIds.add(session)
      onSession?.(session)
    }
    const redacted = redactResponseHeaders(response.headers)
    add({
      type: 'response',
      at: now(),
      http,
      status,
      statusText,
      headers: redacted,
      ...(type === 'cors' && { isCrossOrigin: true }),
    })

    const contentType = response.headers.get('content-type') ?? ''
    if (response.body && contentType.startsWith('text/event-stream')) {
      onAnswer?.({ status, statusText, url, contentType, text: '', isMessage: true })
      update({ isStream: true })
      const count = (name: 'messages' | 'comments'): void => {
        if (exchange) update({ [name]: exchange[name] + 1, lastAt: performance.now() })
      }
      const stream = tapEvents(response.body, {
        onEvent({ data, ...event }) {
          if (data !== '') count('messages')
          add({ type: 'message', at: now(), http, ...event, ...bodyOf(data) })
        },
        onComment: () => count('comments'),
        onEnd: end,
        onCancel: abort,
      })
      return new Response(stream, response)
    }
    const text = await response.text().catch((error: unknown) => {
      end(error)
      throw error
    })
    const received = bodyOf(text)
    if (text !== '') add({ type: 'message', at: now(), http, ...received })
    end()
    const isMessage = messagesOf(received).length > 0
    onAnswer?.({ status, statusText, url, contentType, text, isMessage })
    // A response of these statuses must not have a body
    return new Response([204, 205, 304].includes(status) ? null : text, response)
  }
}

/** Parses a body. Secrets are redacted unless it is a message. */
function bodyOf(text: unknown): Body {
  if (typeof text !== 'string' || text === '') return {}
  const { length } = text
  const json = tryParse(text)
  if (isObject(json) || Array.isArray(json)) {
    return { length, json: messagesOf({ json }).length > 0 ? json : redact(json) }
  }
  const shown = text.slice(0, MAX_TEXT_LENGTH)
  return { length, text: redactText(shown) }
}
