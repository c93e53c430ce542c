/**
 * Forwards the events of upstream servers through a gateway.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { forClient, unknownType } from '../events/errors.ts'
import { EVENTS_LIST_CHANGED } from '../events/wire.ts'
import { ProtocolError } from '../protocol/errors.ts'
import { EVENTS_EXTENSION } from '../protocol/extension-ids.ts'
import type { JsonObject, Result } from '../protocol/types.ts'
import { addExtension } from '../server/composition/extend.ts'
import type { ExtensionFilter } from '../server/composition/server-extension.ts'
import type { ServerDefinition } from '../server/definition.ts'
import { fullDefinitionOf } from '../server/definition-of.ts'
import { onePage } from '../server/features/pagination.ts'
import { invalidParams } from '../server/request/params.ts'
import type { RequestContext } from '../server/request/request-context.ts'
import type { Server, ServerExtension } from '../server/server.ts'
import { UpstreamEvents, type EventUpstream } from './upstream-events.ts'

/** The forwarded events of upstream servers. */
export interface ForwardedEvents extends ServerExtension {
  /** Ends all streams, and closes the connections. */
  close(): Promise<void>
}

/**
 * Forwards the events of upstream servers. Pass the returned object to `server.extend`, once. The upstream
 * servers decide which events a caller may receive, because each principal has its own connection to them.
 *
 * @example
 * ```ts
 * import { connect, type ConnectOptions } from 'edgewise/client'
 * import { forwardEvents } from 'edgewise/events'
 * import { createServer, fromClient } from 'edgewise/server'
 *
 * const server = createServer({ name: 'all', version: '1.0.0' })
 * const git = (options: ConnectOptions) => connect('https://git.example/mcp', options)
 * await server.mount('git', fromClient(git))
 * server.extend(forwardEvents({ connect: git, prefix: 'git' }))
 * ```
 *
 * @throws {TypeError} If two servers have the same prefix, or one has a prefix and webhooks.
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
export function forwardEvents(...upstreams: EventUpstream[]): ForwardedEvents {
  const prefixes = upstreams.map(({ prefix = '' }) => prefix)
  if (new Set(prefixes).size < prefixes.length) {
    throw new TypeError('Cannot forward the events of two servers with the same prefix')
  }
  if (upstreams.some(({ prefix, webhooks }) => webhooks && prefix)) {
    throw new TypeError('Cannot forward webhooks with a prefix: remove "prefix" or "webhooks"')
  }
  const sources = upstreams.map((upstream) => new UpstreamEvents(upstream))
  // The longest prefix is tried first, because the same name may also begin with a shorter prefix
  const byPrefix = sources.toSorted((a, b) => b.prefix.length - a.prefix.length)
  const findSource = ({ name }: JsonObject, ctx: RequestContext): UpstreamEvents => {
    if (typeof name !== 'string') throw invalidParams('"name" must be a string')
    const source = byPrefix.find(({ prefix }) => name.startsWith(prefix))
    if (source) return source
    throw forClient(unknownType(name), ctx)
  }
  return {
    addTo(server: Server) {
      const definition = fullDefinitionOf(server)
      for (const source of sources) source.report = (error) => definition.report(error)
      const forwarded = (method: string) => ({
        handle: (params: JsonObject, ctx: unknown) => {
          const requestContext = ctx as RequestContext
          return findSource(params, requestContext).forward(method, params, requestContext)
        },
      })
      addExtension(server, {
        id: EVENTS_EXTENSION,
        era: 'modern',
        serverOnly: true,
        settings: { listChanged: true },
        capabilities: (era) => (era === 'modern' ? { events: { listChanged: true } } : {}),
        methods: {
          'events/list': {
            handle: (params, ctx) => list(definition, sources, params, ctx as RequestContext),
          },
          'events/poll': forwarded('events/poll'),
          'events/stream': forwarded('events/stream'),
          'events/subscribe': forwarded('events/subscribe'),
          'events/unsubscribe': forwarded('events/unsubscribe'),
        },
        filters: { eventsListChanged: listChangedFilter(sources) },
      })
    },
    async close() {
      await Promise.all(sources.map((source) => source.close()))
    },
  }
}

/** Lists the event types of all upstream servers that answer. */
async function list(
  definition: ServerDefinition,
  sources: readonly UpstreamEvents[],
  { cursor }: JsonObject,
  ctx: RequestContext,
): Promise<Result> {
  const outcomes = await Promise.allSettled(sources.map((source) => source.list(ctx)))
  const lists = outcomes.flatMap((outcome) =>
    outcome.status === 'fulfilled' ? [outcome.value] : [],
  )
  for (const outcome of outcomes) {
    if (outcome.status === 'fulfilled') continue
    if (lists.length === 0) throw outcome.reason
    // A `ProtocolError` needs no report: an upstream server answered with it, or its cause was already reported
    if (!(outcome.reason instanceof ProtocolError)) definition.report(outcome.reason)
  }
  const paginate = definition.pages ?? onePage
  const { page, nextCursor } = paginate(lists.flat(), cursor ?? undefined, 'events')
  return { events: page, ...(nextCursor !== undefined && { nextCursor }) }
}

/** The member `eventsListChanged` of the filter of `subscriptions/listen`. */
function listChangedFilter(sources: readonly UpstreamEvents[]): ExtensionFilter {
  return {
    accept(requested) {
      if (typeof requested === 'boolean') return requested || undefined
      throw invalidParams('"eventsListChanged" must be a boolean')
    },
    subscribe(_accepted, notify, ctx) {
      const stopping = new AbortController()
      for (const source of sources) {
        const onChange = (): void => notify(EVENTS_LIST_CHANGED, {})
        source
          .watch(ctx as RequestContext, stopping.signal, onChange)
          .catch((error: unknown) => !stopping.signal.aborted && source.report(error))
      }
      return () => stopping.abort()
    },
  }
}
