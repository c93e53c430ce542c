/**
 * Middleware around all messages of a server: requests and notifications, in both directions. Only
 * servers that use it load this file.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#messages
 */
import type { Awaitable } from '../../patterns/awaitable.ts'
import type { Input } from '../../patterns/input.ts'
import { findMethod } from '../../protocol/methods.ts'
import type { InputRequest, JsonObject, Result } from '../../protocol/types.ts'
import { fullDefinitionOf, type ServerDefinition } from '../definition.ts'
import type { HandlerContext } from '../request/base-request-context.ts'
import type { Context } from '../request/context.ts'
import type { ClientFacts, Exchange } from '../request/exchange.ts'
import { RequestContext } from '../request/request-context.ts'
import type { MiddlewareLayer, Server } from '../server.ts'

/** The context of a message that passes through {@link messageMiddleware}. */
export interface MessageContext<Env = unknown> {
  /** Whether the client sent the message. Otherwise the server sends it. */
  readonly incoming: boolean
  /** Whether the message is a notification, which has no result. */
  readonly isNotification: boolean
  /** The authenticated principal, if there is one. */
  readonly principal: string | undefined
  /** The client's self-reported identity and capabilities, if they are known. */
  readonly client: ClientFacts | undefined
  /**
   * The context of the client's request, if the message is one or belongs to one. A notification of the
   * client belongs to none.
   */
  readonly request: Context<Env> | undefined
}

/**
 * Wraps the handling of a message: calls `next` to continue, with other params if it passes any, or
 * returns a result itself. A middleware that does not call `next` for a notification holds it back.
 */
export type WrapServerMessage<Env = unknown> = (
  message: { readonly method: string; readonly params: JsonObject },
  ctx: MessageContext<Env>,
  next: (params?: JsonObject) => Promise<Result>,
) => Awaitable<Result>

interface Layer {
  readonly method: string | undefined
  readonly run: WrapServerMessage
}

/** The layers of each server. */
const layersByServer = new WeakMap<ServerDefinition, Layer[]>()

/**
 * Creates middleware for `server.use` that wraps more than the requests of clients: `server.use(layer)`
 * wraps every message, and `server.use(method, layer)` the messages of one method, in both directions.
 * These are also the notifications of clients, such as `notifications/cancelled`, and what the server
 * sends while it answers a request: notifications, and requests for input.
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
export function messageMiddleware<Env = unknown>(run: WrapServerMessage<Env>): MiddlewareLayer {
  return {
    addTo(server, method) {
      // The author declares the type of the environment
      const layer = { method, run: run as WrapServerMessage }
      const definition = fullDefinitionOf(server as Server)
      layersOf(definition).push(layer)
      definition.middleware.push({
        method,
        run: async (request, ctx, next) =>
          run(request, contextOf(ctx as HandlerContext, true, false) as MessageContext<Env>, next),
      })
    },
  }
}

/** The layers of a server, which messages pass through from now on. */
function layersOf(definition: ServerDefinition): Layer[] {
  const existing = layersByServer.get(definition)
  if (existing) return existing
  const layers: Layer[] = []
  layersByServer.set(definition, layers)
  const { input, receive } = definition
  definition.input = {
    ...input,
    createContext(server, message, exchange) {
      let ctx: HandlerContext | undefined
      const sent = wrapSending(layers, exchange, () => ctx)
      const created = input.createContext(server, message, sent)
      const wrap = (context: HandlerContext): HandlerContext => wrapInput(layers, (ctx = context))
      return created instanceof Promise ? created.then(wrap) : wrap(created)
    },
    async suspend(...args) {
      const resumed = await input.suspend(...args)
      return resumed instanceof RequestContext ? wrapInput(layers, resumed) : resumed
    },
  }
  definition.receive = async (message, sender, handle) => {
    const { caller, client } = sender
    const { principal } = caller
    const ctx = { incoming: true, isNotification: true, principal, client, request: undefined }
    const last = async (params: JsonObject): Promise<Result> => {
      const passed =
        message.params || Object.keys(params).length > 0 ? { ...message, params } : message
      await (receive ? receive(passed, sender, handle) : handle?.(passed))
      return {}
    }
    try {
      await passThrough(layers, message, ctx, last)
    } catch (error) {
      definition.report(error)
    }
  }
  return layers
}

/** Passes a message through the layers, outermost first. */
async function passThrough(
  layers: readonly Layer[],
  { method, params = {} }: { method: string; params?: JsonObject | undefined },
  ctx: MessageContext,
  last: (params: JsonObject) => Promise<Result>,
): Promise<Result> {
  const runFrom = async (index: number, current: JsonObject): Promise<Result> => {
    const layer = layers[index]
    if (!layer) return last(current)
    const next = (changed = current): Promise<Result> => runFrom(index + 1, changed)
    const isFor = layer.method === undefined || layer.method === method
    return isFor ? layer.run({ method, params: current }, ctx, next) : next()
  }
  return runFrom(0, params)
}

/** Wraps the notifications of a request. */
function wrapSending(
  layers: readonly Layer[],
  exchange: Exchange,
  findContext: () => HandlerContext | undefined,
): Exchange {
  return {
    ...exchange,
    async send(message) {
      const ctx = findContext()
      const last = async (params: JsonObject): Promise<Result> => {
        await exchange.send({ ...message, params })
        return {}
      }
      if (ctx) await passThrough(layers, message, contextOf(ctx, false, true), last)
      else await exchange.send(message)
    },
  }
}

/** Wraps the requests for input of a request that may ask. */
function wrapInput(layers: readonly Layer[], ctx: HandlerContext): HandlerContext {
  const { revision } = ctx.exchange
  if (!(ctx instanceof RequestContext) || !findMethod(ctx.method, revision)?.mayAsk) return ctx
  const { input } = ctx
  const ask = input.ask.bind(input)
  const wrapped: Pick<Input, 'ask'> = {
    ask: (question) =>
      passThrough(layers, question.request, contextOf(ctx, false, false), (params) => {
        const request = { ...question.request, params } as InputRequest
        return ask({ ...question, request })
      }),
  }
  Object.assign(input, wrapped)
  return ctx
}

function contextOf(
  ctx: HandlerContext,
  incoming: boolean,
  isNotification: boolean,
): MessageContext {
  return { incoming, isNotification, principal: ctx.principal, client: ctx.client, request: ctx }
}
