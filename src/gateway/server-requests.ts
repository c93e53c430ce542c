/**
 * Forwards requests and notifications of a gateway's upstream server to the client whose call they belong to.
 * If that call is unknown, they are forwarded only if no other client can be meant.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation
 */
import { onAbandoned, type AbandonedRequestOptions } from '../client/abandoned-requests.ts'
import { ANSWERED_LATER } from '../client/client-extension.ts'
import type { ConnectOptions, InputContext } from '../client/options.ts'
import { boundedCache } from '../patterns/bounded-cache.ts'
import { InputPending } from '../patterns/input.ts'
import { SdkError, ProtocolError } from '../protocol/errors.ts'
import { METHOD_NOT_FOUND } from '../protocol/error-codes.ts'
import type {
  ElicitFormParams,
  ElicitResult,
  ElicitUrlParams,
  LoggingMessageParams,
} from '../protocol/types.ts'
import { isMissingCapability, isUnsupported } from '../server/request/ask-errors.ts'
import type { Context } from '../server/request/context.ts'
import { logArguments, openCall, forwardedLogs, type ForwardedOptions } from './calls.ts'
import type { Clients } from './clients.ts'
import type { Exchange } from '../server/request/exchange.ts'
import { clientIdentity, type OpenCalls } from './open-calls.ts'

/** The maximum number of URLs whose completion can be forwarded. Beyond it, the oldest URLs are evicted. */
const MAX_URLS = 1000

/** How long a request outside of calls waits for the first client, in milliseconds. */
const FIRST_CLIENT_MS = 60_000

/** The callers served by one upstream connection of a gateway. */
export interface ServedCallers {
  readonly calls: OpenCalls
  /** Absent for unauthenticated callers. */
  readonly principal: string | undefined
  /** The clients of the downstream server, once it exists. */
  readonly clients: Promise<Clients>
}

/**
 * The clients that receive a message without a call: all clients of the principal. Without a principal, only
 * a single client can receive it. A client is omitted while calls of other clients are open.
 */
function clientsOutsideCalls({ calls, principal }: ServedCallers, clients: Clients): Exchange[] {
  const principalClients = clients.ofPrincipal(principal)
  if (principal === undefined && principalClients.length > 1) return []
  return principalClients.filter((exchange) => calls.belongOnlyTo(clientIdentity({ exchange })))
}

/**
 * Handles the requests of the upstream server on one connection of a gateway.
 *
 * @param onCompleted Called when a URL elicitation is completed, with the elicitation id that the caller
 *   received.
 */
export function upstreamRequestHandlers(
  served: ServedCallers,
  onCompleted: (id: string) => void,
): ConnectOptions & AbandonedRequestOptions {
  const { calls, principal } = served
  /** The elicitation ids sent to callers, by the ids that the upstream server sent. */
  const callerIds = boundedCache<unknown, string>(MAX_URLS)
  const askToVisit = async (ctx: Context, params: ElicitUrlParams): Promise<ElicitResult> => {
    const { message, url, elicitationId } = params
    const answer = await ctx.elicitUrl({ message, url })
    if (elicitationId !== undefined && answer.elicitationId !== undefined) {
      callerIds.set(elicitationId, answer.elicitationId)
    }
    return { action: answer.action }
  }
  const findContext = async ({ request, signal }: InputContext): Promise<Context | undefined> => {
    // Input for a request that the gateway sent by itself, such as a listing, belongs to no call
    const call = request ? (request as ForwardedOptions)[openCall] : calls.findReceiver()
    if (call) return call.ctx
    const clients = await served.clients
    // A server may send requests as soon as it starts, before any client has connected
    if (principal === undefined && calls.isUnused && clients.ofPrincipal(principal).length === 0) {
      await clients.waitForClient(FIRST_CLIENT_MS, signal)
    }
    const client = clientsOutsideCalls(served, clients).at(-1)
    return client && clients.createContext(client)
  }
  const requireContext = async (context: InputContext): Promise<Context> => {
    const ctx = await findContext(context)
    if (ctx) return ctx
    throw new SdkError('UNSUPPORTED', 'Cannot tell which client the upstream server is asking')
  }
  const log = async (message: LoggingMessageParams): Promise<void> => {
    const call = calls.findReceiver()
    if (call) return call.ctx.log(...logArguments(message))
    const clients = await served.clients
    for (const client of clientsOutsideCalls(served, clients)) {
      await clients.createContext(client).log(...logArguments(message))
    }
  }
  return {
    capabilities: {
      elicitation: { form: {}, url: {} },
      sampling: { tools: {}, context: {} },
      roots: { listChanged: true },
    },
    onElicit: async (params, context) => {
      const ctx = await findContext(context)
      if (!ctx) return { action: 'cancel' }
      return convertErrors(() =>
        params.mode === 'url' ? askToVisit(ctx, params) : fillInForm(ctx, params),
      )
    },
    onSample: (params, context) =>
      convertErrors(async () => (await requireContext(context)).sample(params)),
    roots: (context) => convertErrors(async () => (await requireContext(context)).roots()),
    onNotification: ({ method, params }) => {
      if (method !== 'notifications/elicitation/complete') return
      const id = params?.elicitationId
      onCompleted(callerIds.get(id) ?? String(id))
      callerIds.delete(id)
    },
    onLog: (message): unknown => (forwardedLogs.has(message) ? undefined : log(message)),
    [onAbandoned]: (id, request) => {
      const { [openCall]: call }: ForwardedOptions = request ?? {}
      if (call) calls.abandon(call, id)
      else if (!request) calls.noteAnswered(id)
    },
  }
}

async function fillInForm(ctx: Context, params: ElicitFormParams): Promise<ElicitResult> {
  const { message, requestedSchema: schema } = params
  const answer = await ctx.elicit({ message, schema })
  return answer.action === 'accept' ? { ...answer } : { action: answer.action }
}

/** Converts errors of input requests to the errors that the upstream server receives. */
async function convertErrors<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    // The caller responds with another call, which is forwarded to the upstream server again
    if (error instanceof InputPending) throw new ProtocolError(ANSWERED_LATER, error.message)
    if (!isMissingCapability(error) && !isUnsupported(error)) throw error
    throw new ProtocolError(METHOD_NOT_FOUND, error.message)
  }
}
