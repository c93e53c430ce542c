/**
 * The requests and notifications of the server behind a gateway: they go to the client that made
 * the call that they belong to, and to no client where that is not known.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation
 */
import { givenUp, type WatchesGivenUp } from '../client/given-up.ts'
import type { ConnectOptions, InputContext } from '../client/options.ts'
import { boundedCache } from '../patterns/bounded-cache.ts'
import { InputPending } from '../patterns/input.ts'
import { INTERNAL_ERROR, McpError, METHOD_NOT_FOUND, ProtocolError } from '../protocol/errors.ts'
import type {
  ElicitFormParams,
  ElicitResult,
  ElicitUrlParams,
  LoggingMessageParams,
} from '../protocol/types.ts'
import { isMissingCapability, isUnsupported } from '../server/request/ask-errors.ts'
import type { Context } from '../server/request/context.ts'
import { logOf, openCall, passedOn, type PassedOn } from './calls.ts'
import type { Clients } from './clients.ts'
import type { Exchange } from '../server/request/exchange.ts'
import { clientOf, type OpenCalls } from './open-calls.ts'

/** The most URLs whose completion can be passed on; the oldest are forgotten. */
const MAX_URLS = 1000

/** How long a question outside of calls waits for the first client, in milliseconds. */
const FIRST_CLIENT_MS = 60_000

/** The callers that one connection of a gateway serves. */
export interface Served {
  readonly calls: OpenCalls
  /** Absent for callers that are not authenticated. */
  readonly principal: string | undefined
  /** The clients of the server in front, once there is one. */
  readonly clients: Promise<Clients>
}

/**
 * The clients that get a message that belongs to no call: those of the principal; without a
 * principal the only one; none while calls of another client are open.
 */
function clientsOutsideCalls({ calls, principal }: Served, clients: Clients): Exchange[] {
  const all = clients.of(principal)
  if (principal === undefined && all.length > 1) return []
  return all.filter((exchange) => calls.areOf(clientOf({ exchange })))
}

/**
 * How one connection of a gateway answers the server behind it.
 *
 * @param completed Called when what a URL asked for is completed, with the id that the caller
 *   knows.
 */
export function questionsOf(
  served: Served,
  completed: (id: string) => void,
): ConnectOptions & WatchesGivenUp {
  const { calls, principal } = served
  /** The ids under which callers were asked to open URLs, by those that the other server gave. */
  const urls = boundedCache<unknown, string>(MAX_URLS)
  const visit = async (ctx: Context, params: ElicitUrlParams): Promise<ElicitResult> => {
    const { message, url, elicitationId } = params
    const answer = await ctx.elicitUrl({ message, url })
    if (elicitationId !== undefined && answer.elicitationId !== undefined) {
      urls.set(elicitationId, answer.elicitationId)
    }
    return { action: answer.action }
  }
  const find = async ({ request, signal }: InputContext): Promise<Context | undefined> => {
    // A question on the stream of the gateway's own request belongs to no call
    const call = request ? (request as PassedOn)[openCall] : calls.find()
    if (call) return call.ctx
    const clients = await served.clients
    // A server may ask as soon as it is started, before a client can have connected
    if (principal === undefined && calls.isUnused && clients.of(principal).length === 0) {
      await clients.another(FIRST_CLIENT_MS, signal)
    }
    const client = clientsOutsideCalls(served, clients).at(-1)
    return client && clients.contextOf(client)
  }
  const required = async (context: InputContext): Promise<Context> => {
    const ctx = await find(context)
    if (ctx) return ctx
    throw new McpError('UNSUPPORTED', 'The question may be for any of several clients, or for none')
  }
  const log = async (message: LoggingMessageParams): Promise<void> => {
    const call = calls.find()
    if (call) return call.ctx.log(...logOf(message))
    const clients = await served.clients
    for (const client of clientsOutsideCalls(served, clients)) {
      await clients.contextOf(client).log(...logOf(message))
    }
  }
  return {
    capabilities: {
      elicitation: { form: {}, url: {} },
      sampling: { tools: {}, context: {} },
      roots: { listChanged: true },
    },
    onElicit: async (params, context) => {
      const ctx = await find(context)
      if (!ctx) return { action: 'cancel' }
      return asking(() => (params.mode === 'url' ? visit(ctx, params) : fillIn(ctx, params)))
    },
    onSample: (params, context) => asking(async () => (await required(context)).sample(params)),
    roots: (context) => asking(async () => (await required(context)).roots()),
    onNotification: ({ method, params }) => {
      if (method !== 'notifications/elicitation/complete') return
      const id = params?.elicitationId
      completed(urls.get(id) ?? String(id))
      urls.delete(id)
    },
    onLog: (message): unknown => (passedOn.has(message) ? undefined : log(message)),
    [givenUp]: (id, request) => {
      const { [openCall]: call }: PassedOn = request ?? {}
      if (call) calls.giveUp(call, id)
      else if (!request) calls.answered(id)
    },
  }
}

async function fillIn(ctx: Context, params: ElicitFormParams): Promise<ElicitResult> {
  const { message, requestedSchema: schema } = params
  const answer = await ctx.elicit({ message, schema })
  return answer.action === 'accept' ? { ...answer } : { action: answer.action }
}

/** Waits for an answer; the other server gets an error when the caller cannot give one. */
async function asking<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    // The caller answers by another call, which is passed on to the other server again
    if (error instanceof InputPending) throw new ProtocolError(INTERNAL_ERROR, error.message)
    if (!isMissingCapability(error) && !isUnsupported(error)) throw error
    throw new ProtocolError(METHOD_NOT_FOUND, error.message)
  }
}
