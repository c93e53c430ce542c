/**
 * Servers with events that say what a test lets them say, and what a client does with it.
 */
import { vi } from 'vitest'
import { eventSubscriptions } from '../../src/events/client/subscriptions.ts'
import type { ReceivedEvent } from '../../src/events/client/occurrence.ts'
import type {
  EventSubscriptions,
  EventSubscriptionsOptions,
} from '../../src/events/client/options.ts'
import type { Client } from '../../src/presets/client.ts'
import type { JsonObject } from '../../src/protocol/types.ts'
import type { ConnectOptions } from '../../src/presets/client.ts'
import {
  connectTo,
  error,
  eventStream,
  modernPeer,
  result,
  type EventStream,
  type HttpPeer,
  type ScriptedRequest,
} from '../client/peers.ts'
import { settled } from '../settled.ts'

export const EVENTS = 'io.modelcontextprotocol/events'
export const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId'
export const offered: JsonObject = { extensions: { [EVENTS]: {} } }

/** An event type with the given modes. */
export function typeOf(name: string, ...delivery: string[]): JsonObject {
  return { name, delivery, inputSchema: { type: 'object' }, payloadSchema: { type: 'object' } }
}

/** An event. */
export function occurrence(eventId: string, more: JsonObject = {}): JsonObject {
  const timestamp = '2026-11-28T09:30:00Z'
  return { eventId, name: 'build.finished', timestamp, data: { id: eventId }, ...more }
}

/** The result of a poll. */
export function batch(
  cursor: string | null,
  events: JsonObject[],
  more: JsonObject = {},
): JsonObject {
  return {
    ...{ resultType: 'complete', events, cursor, truncated: false, hasMore: false },
    ...{ nextPollMs: 20_000, ...more },
  }
}

/** What a server with one event type says to each method. */
export type Script = (
  request: ScriptedRequest,
  params: JsonObject,
) => Response | Promise<Response> | undefined

/** A server whose event type has the given modes. */
export function eventPeer(
  delivery: readonly string[],
  script: Script,
  capabilities: JsonObject = offered,
): HttpPeer {
  return modernPeer((request) => {
    const answer = script(request, request.message.params ?? {})
    if (answer) return answer
    if (request.message.method === 'events/list') {
      return result(request, { events: [typeOf('build.finished', ...delivery)] })
    }
    return error(request, -32601)
  }, capabilities)
}

/** The params of all requests with a method, without `_meta`. */
export function paramsOf(peer: HttpPeer, method: string): JsonObject[] {
  return peer.received(method).map(({ message }) => {
    const { _meta, ...params } = message.params ?? {}
    return params
  })
}

/** Subscriptions with a record of everything that they report. */
export interface Followed {
  readonly client: Client
  readonly subscriptions: EventSubscriptions
  readonly errors: Error[]
  readonly gaps: string[]
}

/** Connects to a server and creates subscriptions. */
export async function subscriptionsTo(
  peer: Parameters<typeof connectTo>[0],
  options: EventSubscriptionsOptions = {},
  connectOptions: ConnectOptions = {},
): Promise<Followed> {
  const errors: Error[] = []
  const gaps: string[] = []
  const client = await connectTo(peer, {
    onError: (reported) => errors.push(reported),
    ...connectOptions,
  })
  const subscriptions = eventSubscriptions(client, {
    onError: (reported) => errors.push(reported),
    onGap: ({ name }) => gaps.push(name),
    ...options,
  })
  return { client, subscriptions, errors, gaps }
}

/** A loop that runs in the background. */
export interface Collected {
  readonly events: ReceivedEvent[]
  readonly ids: () => string[]
  /** Settles with the end of the loop. */
  readonly ended: Promise<void>
}

/** Reads events in the background. */
export function collect(
  loop: AsyncGenerator<ReceivedEvent, void, undefined>,
  onEvent: (event: ReceivedEvent) => unknown = () => {},
): Collected {
  const events: ReceivedEvent[] = []
  const read = async (): Promise<void> => {
    for await (const event of loop) {
      events.push(event)
      await onEvent(event)
    }
  }
  const ended = read()
  ended.catch(() => {})
  return { events, ids: () => events.map(({ eventId }) => eventId), ended }
}

/** Replaces the clock. */
export function stopClock(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
}

/** Lets time pass, in steps, with everything that happens in it. */
export async function pass(ms: number, steps = 4): Promise<void> {
  await settled()
  for (let step = 0; step < steps; step++) {
    await vi.advanceTimersByTimeAsync(ms / steps)
    await settled()
  }
}

/** Streams of one server, in the order in which they were opened. */
export interface Streams {
  readonly script: Script
  readonly opened: {
    readonly id: unknown
    readonly stream: EventStream
    readonly params: JsonObject
  }[]
  /** Sends a notification on the last stream, or another one. */
  send(method: string, params: JsonObject, index?: number): void
  /** Sends an event. */
  event(eventId: string, cursor: string | null, index?: number): void
}

/** A server that opens a stream for each request, and sends `active` with the requested cursor. */
export function streams({ isActive = true }: { isActive?: boolean } = {}): Streams {
  const opened: Streams['opened'] = []
  const send: Streams['send'] = (method, params, index = -1) => {
    const { stream, id } = opened.at(index)!
    const _meta = { [SUBSCRIPTION_ID]: id }
    stream.event({
      jsonrpc: '2.0',
      method: `notifications/events/${method}`,
      params: { ...params, _meta },
    })
  }
  return {
    opened,
    send,
    event: (eventId, cursor, index) => send('event', occurrence(eventId, { cursor }), index),
    script(request, params) {
      if (request.message.method !== 'events/stream') return undefined
      const stream = eventStream()
      opened.push({ id: request.message.id, stream, params })
      if (isActive) send('active', { cursor: params.cursor ?? 'c0', truncated: false })
      return stream.response
    },
  }
}
