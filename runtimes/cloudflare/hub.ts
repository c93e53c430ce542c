/**
 * Announces changes to the clients of every isolate, through one or several hub objects.
 */
import { env, waitUntil } from 'cloudflare:workers'
import type { ChangeSource, ServerChange, Notifier } from '#internal/http'
import { ErrorCode, ProtocolError } from '../../src/index.ts'
import type { Caller } from '../../src/presets/server.ts'
import { requireNamespace, type HubObject } from './bindings.ts'
import { accountHeaders, CALLER_FULL_STATUS } from './connection-quota.ts'
import { withObjectTimeout } from './object-timeout.ts'
import {
  sessionStreamHeaders,
  filterHeaders,
  type SessionStreamRequest,
} from './subscription-filter.ts'
import type { WorkerOptions } from './options.ts'
import { refuse } from './sse-session.ts'

/** Returns the error message for clients that cannot listen at the moment. */
function quotaMessage(status?: number): string {
  return status === CALLER_FULL_STATUS
    ? 'Too many streams are open for this caller'
    : 'No stream can be opened for now'
}

/**
 * Creates the response to a client whose session cannot listen at the moment.
 *
 * @param status The status of the hub's response, if any.
 */
export function streamUnavailable(status?: number): Response {
  return refuse(503, quotaMessage(status), { 'retry-after': '60' })
}

/** Starts the stream of a session with an empty message to the hub. Call it when the client is ready. */
export function startStream(socket: WebSocket): void {
  socket.send('')
}

/** Announces changes to every client, from anywhere in the Worker. */
export interface WorkerNotifier {
  /** Announces that the list of tools changed. */
  toolsListChanged(): Promise<void>
  /** Announces that the list of prompts changed. */
  promptsListChanged(): Promise<void>
  /** Announces that the list of resources or templates changed. */
  resourcesListChanged(): Promise<void>
  /** Announces that a resource's contents changed. */
  resourceUpdated(uri: string): Promise<void>
  /**
   * Announces that the user completed a URL elicitation, to the client that requested it
   * (2025-11-25).
   */
  elicitationComplete(elicitationId: string): Promise<void>
}

/** All hub objects together. */
export class Hub {
  readonly #binding: string
  readonly #shards: number
  #started = false

  constructor({ hubBinding = 'MCP_HUB', hubShards = 1 }: WorkerOptions) {
    this.#binding = hubBinding
    this.#shards = hubShards
  }

  /** Publishes the changes that a notifier announces after {@link start} was called. */
  relay(source: Notifier): void {
    source.subscribe((change) => {
      // While the module is loading, nothing can be sent, and no client listens yet
      if (this.#started) waitUntil(this.publish(change).catch((error) => console.error(error)))
    })
  }

  /** Records that this isolate answers requests, and can therefore send changes. */
  start(): void {
    this.#started = true
  }

  /**
   * Announces a change to every subscribed client.
   *
   * @throws {SdkError} `TIMEOUT` if a hub object hangs; clients of the other objects still receive the
   *   change.
   */
  async publish(change: ServerChange): Promise<void> {
    const objects = Array.from({ length: this.#shards }, (_, shard) => this.#objectAt(shard))
    await Promise.all(
      objects.map((object) => withObjectTimeout('hub', () => object.publish(change))),
    )
  }

  /**
   * Opens the stream of a session. The stream starts once {@link startStream} is called with the socket of
   * the response. If the hub rejects the request or fails, the response has no socket.
   */
  async listen(streamRequest: SessionStreamRequest, caller: Caller): Promise<Response> {
    const headers = { ...sessionStreamHeaders(streamRequest), ...(await accountHeaders(caller)) }
    return openSocket(this.#objectOf(streamRequest.session), headers)
  }

  /** Replaces the subscriptions of a session. */
  watch(session: string, watched: readonly string[]): Promise<void> {
    return withObjectTimeout('hub', () => this.#objectOf(session).watch(session, watched))
  }

  /** Whether a session has an open stream. */
  listens(session: string): Promise<boolean> {
    return withObjectTimeout('hub', () => this.#objectOf(session).listens(session))
  }

  /** Removes a session, and ends its streams. */
  leave(session: string): Promise<void> {
    return withObjectTimeout('hub', () => this.#objectOf(session).leave(session))
  }

  /** The source of changes for the clients of 2026-07-28 that listen in this isolate. */
  readonly changes: ChangeSource = {
    subscribe: async (listener, options = {}) => {
      // Any of the objects will do, because each change is published to all of them
      const shard = Math.floor(Math.random() * this.#shards)
      const headers = { ...filterHeaders(options), ...(await accountHeaders(options.caller)) }
      const { webSocket, status } = await openSocket(this.#objectAt(shard), headers)
      if (!webSocket) throw new ProtocolError(ErrorCode.INTERNAL_ERROR, quotaMessage(status))
      webSocket.addEventListener('message', ({ data }) => {
        listener(JSON.parse(String(data)) as ServerChange)
      })
      webSocket.addEventListener('close', () => options.onEnd?.())
      webSocket.addEventListener('error', () => options.onEnd?.())
      webSocket.accept()
      return () => webSocket.close(1000, 'No listeners')
    },
  }

  /** The notifier for applications, with a method for each kind of change. */
  readonly notify: WorkerNotifier = {
    toolsListChanged: () => this.publish({ method: 'notifications/tools/list_changed' }),
    promptsListChanged: () => this.publish({ method: 'notifications/prompts/list_changed' }),
    resourcesListChanged: () => this.publish({ method: 'notifications/resources/list_changed' }),
    resourceUpdated: (uri) => this.publish({ method: 'notifications/resources/updated', uri }),
    elicitationComplete: (elicitationId) =>
      this.publish({ method: 'notifications/elicitation/complete', elicitationId }),
  }

  #objectAt(shard: number): DurableObjectStub<HubObject> {
    const namespace = requireNamespace<HubObject>(env, this.#binding, 'McpHub')
    return namespace.get(namespace.idFromName(`hub ${shard}`))
  }

  /** The hub object of a session. The last digits of the session ids distribute the sessions evenly. */
  #objectOf(session: string): DurableObjectStub<HubObject> {
    return this.#objectAt(parseInt(session.slice(-8), 16) % this.#shards)
  }
}

/**
 * Opens the socket of a stream. If the hub rejects the request, fails or hangs, the response has no socket.
 */
async function openSocket(
  hub: DurableObjectStub<HubObject>,
  headers: Record<string, string>,
): Promise<Response> {
  const init = { headers: { upgrade: 'websocket', ...headers } }
  try {
    return await withObjectTimeout('hub', (signal) =>
      hub.fetch('https://hub/', { ...init, signal }),
    )
  } catch (error) {
    console.error(error)
    return new Response(null, { status: 503 })
  }
}
