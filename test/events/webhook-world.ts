/** A server with webhooks, clients that subscribe, and receivers that answer as a test says. */
import { recordOperations, type Ended } from '../observing.ts'
import { vi } from 'vitest'
import * as z from 'zod'
import type { ServerEvents } from '../../src/events/server-events.ts'
import { events, pollSources, streams, webhooks } from '../../src/events/index.ts'
import { createMemoryEventStorage } from '../../src/events/memory-storage.ts'
import type { EventsOptions } from '../../src/events/options.ts'
import type { EventTypeOptions } from '../../src/events/type-options.ts'
import type { WebhookOptions, WebhookRequest } from '../../src/events/webhooks/options.ts'
import type { EventStorage } from '../../src/events/storage.ts'
import type { ClientCapabilities, JsonObject } from '../../src/index.ts'
import {
  createHandler,
  createServer,
  serverObserver,
  type Caller,
  type Handler,
} from '../../src/presets/server.ts'
import { settled } from '../settled.ts'
import { lastMessage, modernHeaders, modernRequest } from '../transport/streamable-http/post.ts'

export const SECRET = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='
export const OTHER_SECRET = 'whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8='
export const URL_1 = 'https://hooks.example.net/in?k=1'

/** A request that a receiver got. */
export interface Received {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly body: JsonObject
  readonly at: number
}

/** How a receiver answers everything but challenges; undefined accepts. */
export type Script = (received: Received) => Response | undefined | Promise<Response | undefined>

/** What a test can do. */
export interface World {
  readonly handler: Handler
  readonly events: ServerEvents
  readonly storage: EventStorage
  /** Everything that receivers got, challenges included. */
  readonly received: Received[]
  /** Everything but challenges. */
  deliveries(url?: string): Received[]
  challenges(): Received[]
  /** How receivers answer from now on. */
  answer: Script
  /** How receivers answer challenges; by default well. */
  answerChallenge: Script
  readonly observed: Ended[]
  readonly errors: unknown[]
  readonly hooks: string[]
  call(method: string, params: JsonObject, options?: CallOptions): Promise<Answer>
  subscribe(params?: JsonObject, options?: CallOptions): Promise<Answer>
  unsubscribe(params?: JsonObject, options?: CallOptions): Promise<Answer>
  emit(id: string, data?: JsonObject): Promise<void>
}

interface CallOptions {
  readonly principal?: string | null
  readonly capabilities?: ClientCapabilities
  readonly caller?: Caller
}

/** A result or an error, with members of both, so that tests can compare either. */
export type Answer = Partial<Record<'id' | 'cursor' | 'refreshBefore', string | null>> & {
  readonly truncated?: boolean
  readonly deliveryStatus?: JsonObject
  readonly error?: { readonly code: number; readonly message: string; readonly data?: JsonObject }
  readonly status: number
  readonly text: string
}

/** The options of a world. */
export interface WorldOptions {
  readonly webhooks?: WebhookOptions
  readonly events?: EventsOptions
  readonly storage?: EventStorage
  readonly type?: Partial<EventTypeOptions>
  /** The name of the event type. */
  readonly name?: string
  /** Continues with the receivers of another world, as after a restart of the server. */
  readonly previous?: World
}

/** The arguments of `build.finished`, and what they could be in another version of the server. */
const buildInput = z.object({ project: z.string().optional() })
export const buildNumbers: z.ZodType = z.object({ project: z.number().optional() })

/** Creates a server with the event type `build.finished`. */
export function createWorld(options: WorldOptions = {}): World {
  const { storage = createMemoryEventStorage(), previous } = options
  const received = previous?.received ?? []
  const { observer, ended: observed } = recordOperations()
  const errors: unknown[] = []
  const hooks: string[] = []
  const fetch = async (url: string, request: WebhookRequest): Promise<Response> => {
    const text = new TextDecoder().decode(request.body)
    const body = (text ? JSON.parse(text) : {}) as JsonObject
    const { method, headers } = request
    const got = { url, method, headers, text, body, at: Date.now() }
    received.push(got)
    activity++
    const aborted = new Promise<never>((_, reject) => {
      request.signal.addEventListener('abort', () => reject(request.signal.reason))
    })
    const script = body.type === 'verification' ? world.answerChallenge : world.answer
    aborted.catch(() => {})
    const response = await Promise.race([script(got), aborted])
    return response ?? new Response(null, { status: 204 })
  }
  const server = createServer(
    { name: 'builds', version: '1' },
    {
      onError: (error) => errors.push(error),
      observe: serverObserver(observer),
    },
  )
  const builds = events({
    storage,
    sources: pollSources,
    streams: streams(),
    webhooks: webhooks({ fetch, ...options.webhooks }),
    ...options.events,
  })
  const finished = builds.type(options.name ?? 'build.finished', {
    description: 'A build of a project has ended',
    input: buildInput,
    payload: z.object({ project: z.string() }).catchall(z.unknown()),
    matches: (input, payload) => {
      const { project } = input as { project?: string }
      return project === undefined || project === (payload as { project: string }).project
    },
    onSubscribe: () => void hooks.push('subscribed'),
    onUnsubscribe: () => void hooks.push('unsubscribed'),
    ...options.type,
  })
  server.extend(builds)
  const handler = createHandler(server)

  const call = async (
    method: string,
    params: JsonObject,
    { principal = 'alice', capabilities = {}, caller }: CallOptions = {},
  ): Promise<Answer> => {
    const body = JSON.stringify(modernRequest(method, params, capabilities))
    const given = Object.entries({
      ...modernHeaders(method),
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    }).filter(([, value]) => value !== undefined)
    const request = new Request('http://localhost/mcp', { method: 'POST', headers: given, body })
    const response = await handler(request, {
      ...(principal !== null && { principal }),
      ...caller,
    })
    const { status } = response
    const message = await lastMessage(response)
    const text = JSON.stringify(message)
    return {
      ...message.result,
      ...(message.error && { error: message.error }),
      status,
      text,
    } as Answer
  }

  const world: World = {
    handler,
    events: builds,
    storage,
    received,
    observed,
    errors,
    hooks,
    answer: previous?.answer ?? (() => undefined),
    answerChallenge: ({ body: { challenge } }) => Response.json({ challenge }),
    deliveries: (url) =>
      received.filter(
        (got) =>
          got.method === 'POST' && got.body.type !== 'verification' && (url ?? got.url) === got.url,
      ),
    challenges: () => received.filter(({ body }) => body.type === 'verification'),
    call,
    subscribe: ({ delivery, ...params } = {}, more) =>
      call(
        'events/subscribe',
        {
          name: 'build.finished',
          arguments: {},
          delivery: { mode: 'webhook', url: URL_1, secret: SECRET, ...(delivery as JsonObject) },
          cursor: null,
          ...params,
        },
        more,
      ),
    unsubscribe: (params = {}, more) =>
      call(
        'events/unsubscribe',
        { name: 'build.finished', arguments: {}, delivery: { url: URL_1 }, ...params },
        more,
      ),
    emit: (id, data = {}) => finished.emit({ project: 'lantern', ...data }, { eventId: id }),
  }
  return world
}

/** Stops the clock for timers and dates, at a whole second. */
export function stopClock(): void {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout', 'performance'] })
  vi.setSystemTime(new Date('2026-11-28T09:30:00Z'))
}

/** How many requests receivers got, of all worlds. */
let activity = 0

/** Waits until the server has done what it can do without the clock. */
async function quiet(): Promise<void> {
  let before
  do {
    before = activity
    await settled(60)
  } while (activity > before)
}

/**
 * Lets time pass, with everything that happens meanwhile: from timer to timer, or in steps of
 * `stepMs` where a server sets a timer every few seconds, as with a durable storage.
 */
export async function pass(ms: number, stepMs?: number): Promise<void> {
  let hasPassed = false
  setTimeout(() => (hasPassed = true), ms)
  while (!hasPassed) {
    await quiet()
    if (stepMs === undefined) vi.advanceTimersToNextTimer()
    else vi.advanceTimersByTime(stepMs)
  }
  await quiet()
}

/** Waits for a condition while the clock stands still. */
export async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 2_000 && !condition(); turn++) await quiet()
  if (!condition()) throw new Error('The condition was not met')
}

/** The ids of events in the order in which they arrived. */
export function idsOf(received: readonly Received[]): unknown[] {
  return received.map(({ body }) => body.eventId ?? body.type)
}
