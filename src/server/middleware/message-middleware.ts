/**
 * Middleware around all messages of a server: requests and notifications, in both directions. Only
 * servers that use it load this file.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#messages
 */
import { andThen } from '../../patterns/awaitable.ts'
import type { Input } from '../../patterns/input.ts'
import { findMethod } from '../../protocol/methods.ts'
import type { InputRequest, JsonObject, Result } from '../../protocol/types.ts'
import type { ServerDefinition } from '../definition.ts'
import { fullDefinitionOf } from '../definition-of.ts'
import type { InternalContext } from '../request/base-request-context.ts'
import type { Exchange } from '../request/exchange.ts'
import { RequestContext } from '../request/request-context.ts'
import type { MessageContext, MiddlewareLayer, Server, WrapServerMessage } from '../server.ts'

/** The servers whose messages already pass through the middleware. */
const wrappedServers = new WeakSet<ServerDefinition>()

/**
 * Creates middleware for `server.use` that wraps more than the requests of clients:
 * `server.use(layer)` wraps every message, and `server.use(method, layer)` the messages of one
 * method, in both directions. In addition to the requests of clients, it wraps their notifications,
 * such as `notifications/cancelled`, and what the server sends while it answers a request:
 * notifications, and requests for input.
 *
 * @example
 * ```ts
 * import { createServer, messageMiddleware } from 'edgewise/server'
 *
 * const server = createServer({ name: 'travel', version: '1.0.0' })
 * server.use(
 *   'notifications/message',
 *   messageMiddleware(({ params }, _ctx, next) => (params.level === 'debug' ? {} : next())),
 * )
 * ```
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#messages
 */
export function messageMiddleware<Env = unknown, Method extends string = string>(
  run: WrapServerMessage<Env, Method>,
): MiddlewareLayer<Method>
// The types of the method and the environment matter only to callers, so the implementation omits them
export function messageMiddleware(run: WrapServerMessage): MiddlewareLayer {
  return {
    addTo(server, method) {
      const definition = fullDefinitionOf(server as Server)
      wrapMessages(definition)
      definition.middleware.push({
        method,
        wrap: run,
        run: async (request, ctx, next) =>
          run(request, contextOf(ctx as InternalContext, RECEIVED_REQUEST), next),
      })
    },
  }
}

/** Makes the messages of a server pass through its middleware. */
function wrapMessages(definition: ServerDefinition): void {
  if (wrappedServers.has(definition)) return
  wrappedServers.add(definition)
  const { input, receive } = definition
  definition.input = {
    ...input,
    createContext(server, message, exchange) {
      let ctx: InternalContext | undefined
      const wrappedExchange = wrapSending(definition, exchange, () => ctx)
      const created = input.createContext(server, message, wrappedExchange)
      const wrap = (context: InternalContext): InternalContext => {
        ctx = context
        return wrapInput(definition, context)
      }
      return andThen(created, wrap)
    },
    async suspend(...args) {
      const resumed = await input.suspend(...args)
      return resumed instanceof RequestContext ? wrapInput(definition, resumed) : resumed
    },
  }
  definition.receive = async (message, sender, handle) => {
    const { caller, client } = sender
    const { principal } = caller
    const ctx = { incoming: true, isNotification: true, principal, client, request: undefined }
    const last = async (params: JsonObject): Promise<Result> => {
      const passed = { ...message, params }
      await (receive ? receive(passed, sender, handle) : handle?.(passed))
      return {}
    }
    try {
      await passThrough(definition, message, ctx, last)
    } catch (error) {
      definition.report(error)
    }
  }
}

/**
 * Passes a message through the middleware, outermost first.
 *
 * @param last Handles or sends the message after all middleware.
 */
async function passThrough(
  definition: ServerDefinition,
  { method, params = {} }: { method: string; params?: JsonObject | undefined },
  ctx: MessageContext,
  last: (params: JsonObject) => Promise<Result>,
): Promise<Result> {
  const layers = definition.middleware.filter((layer) => (layer.method ?? method) === method)
  const runFrom = async (index: number, current: JsonObject): Promise<Result> => {
    const layer = layers[index]
    if (!layer) return last(current)
    const next = (changed = current): Promise<Result> => runFrom(index + 1, changed)
    return layer.wrap ? layer.wrap({ method, params: current }, ctx, next) : next()
  }
  return runFrom(0, params)
}

/** Wraps the notifications that the server sends while it answers a request. */
function wrapSending(
  definition: ServerDefinition,
  exchange: Exchange,
  findContext: () => InternalContext | undefined,
): Exchange {
  return {
    ...exchange,
    async send(message) {
      const ctx = findContext()
      const last = async (params: JsonObject): Promise<Result> => {
        await exchange.send({ ...message, params })
        return {}
      }
      // Notifications that are sent before the context exists do not pass through the middleware
      if (ctx) await passThrough(definition, message, contextOf(ctx, SENT_NOTIFICATION), last)
      else await exchange.send(message)
    },
  }
}

/** Wraps the requests for input, if the method of the request may ask for input. */
function wrapInput(definition: ServerDefinition, ctx: InternalContext): InternalContext {
  const { revision } = ctx.exchange
  if (!(ctx instanceof RequestContext) || !findMethod(ctx.method, revision)?.mayAsk) return ctx
  const { input } = ctx
  const ask = input.ask.bind(input)
  const wrapped: Pick<Input, 'ask'> = {
    ask: (question) =>
      passThrough(definition, question.request, contextOf(ctx, SENT_REQUEST), (params) => {
        const request = { ...question.request, params } as InputRequest
        return ask({ ...question, request })
      }),
  }
  Object.assign(input, wrapped)
  return ctx
}

type MessageKind = Pick<MessageContext, 'incoming' | 'isNotification'>

const RECEIVED_REQUEST: MessageKind = { incoming: true, isNotification: false }
const SENT_REQUEST: MessageKind = { incoming: false, isNotification: false }
const SENT_NOTIFICATION: MessageKind = { incoming: false, isNotification: true }

/** The context that middleware receives for a message. */
function contextOf(ctx: InternalContext, kind: MessageKind): MessageContext {
  return { ...kind, principal: ctx.principal, client: ctx.client, request: ctx }
}
