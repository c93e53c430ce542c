/**
 * What a server does with requests on whose answers security and interoperability depend, as
 * docs/comparison states it. Each probe sends plain HTTP requests, so that no client corrects them.
 *
 * @see https://modelcontextprotocol.io/specification/2025-06-18/basic/transports
 */

/** A server of any SDK, with the tools of `contract.ts`. */
export interface ProbedServer {
  readonly url: string
  readonly fetch: (request: Request) => Promise<Response>
}

/** An answer to a request. */
interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The messages in the body, of JSON or of a stream. */
  readonly messages: readonly Message[]
}

interface Message {
  readonly id?: unknown
  readonly method?: string
  readonly result?: { readonly isError?: boolean; readonly [member: string]: unknown }
  readonly error?: { readonly code: number }
}

/** The newest revision that all servers support. */
const REVISION = '2025-06-18'
/** Twice as much as the largest default limit of the servers. */
const LARGE_BYTES = 8 * 1024 * 1024

/** The probes, by what is sent. The result is what the server does. */
export const probes: Readonly<Record<string, (server: ProbedServer) => Promise<string>>> = {
  'a request from a page of another site': async (server) => {
    const { status } = await post(server, initialize(), { origin: 'https://other.example' })
    return statusText(status)
  },
  'a body of 8 MB': async (server) => {
    const call = await session(server)
    const large = { name: 'greet', arguments: { name: 'a'.repeat(LARGE_BYTES) } }
    // A server may close the connection before it has received the whole body
    const answer = await call('tools/call', large).catch(() => undefined)
    return answer ? statusText(answer.status) : 'connection closed'
  },
  'a body that is not JSON': async (server) => {
    const { status, messages } = await post(server, '{')
    return [statusText(status), messages[0]?.error?.code].filter(Boolean).join(', ')
  },
  'an unknown `MCP-Protocol-Version`': async (server) => {
    const call = await session(server)
    const { status } = await call('ping', {}, { 'mcp-protocol-version': '1999-01-01' })
    return statusText(status)
  },
  'a batch of two calls, in 2025-03-26': async (server) => {
    const call = await session(server, '2025-03-26')
    const { status, messages } = await call('ping', {}, {}, 2)
    return messages.length === 2 ? 'two responses' : statusText(status)
  },
  'a call of an unknown tool': async (server) => {
    const call = await session(server)
    return outcome(await call('tools/call', { name: 'unknown', arguments: {} }))
  },
  'a call with wrong arguments': async (server) => {
    const call = await session(server)
    return outcome(await call('tools/call', { name: 'greet', arguments: { name: 1 } }))
  },
  'a call that reports progress three times': async (server) => {
    const { messages } = await count(server)
    const { length } = messages.filter(({ method }) => method === 'notifications/progress')
    return length === 0 ? 'no notification' : `${length} notifications`
  },
  'event ids, with which clients resume a stream': async (server) => {
    const { text } = await count(server)
    return /^id: ?\S/m.test(text) ? 'yes' : 'no'
  },
}

async function count(server: ProbedServer): Promise<Answer> {
  const call = await session(server)
  const _meta = { progressToken: 'p' }
  return call('tools/call', { name: 'count', arguments: { to: 3, pauseMs: 1 }, _meta })
}

/** Sends a request, or several with the same method and params. */
type Call = (
  method: string,
  params: object,
  headers?: Record<string, string>,
  times?: number,
) => Promise<Answer>

/** Opens a session. */
async function session(server: ProbedServer, revision = REVISION): Promise<Call> {
  const opened = await post(server, initialize(revision))
  const id = opened.headers.get('mcp-session-id')
  const own = {
    'mcp-protocol-version': revision,
    ...(id !== null && { 'mcp-session-id': id }),
  }
  await post(server, { jsonrpc: '2.0', method: 'notifications/initialized' }, own)
  return (method, params, headers = {}, times = 1) => {
    const requests = Array.from({ length: times }, (_, at) => ({
      jsonrpc: '2.0',
      id: at + 1,
      method,
      params,
    }))
    return post(server, times === 1 ? requests[0] : requests, { ...own, ...headers })
  }
}

function initialize(protocolVersion = REVISION): object {
  const params = {
    protocolVersion,
    capabilities: {},
    clientInfo: { name: 'probe', version: '1.0.0' },
  }
  return { jsonrpc: '2.0', id: 0, method: 'initialize', params }
}

async function post(
  { url, fetch }: ProbedServer,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const request = new Request(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const response = await fetch(request)
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, messages: messagesOf(text) }
}

function messagesOf(text: string): Message[] {
  const datas = Array.from(text.matchAll(/^data: ?(.+)$/gm), ([, data]) => data ?? '')
  return (datas.length > 0 ? datas : [text]).flatMap((data) => {
    try {
      return JSON.parse(data) as Message | Message[]
    } catch {
      return []
    }
  })
}

function outcome({ status, messages }: Answer): string {
  const { error, result } = messages.find(({ id }) => id === 1) ?? {}
  if (error) return `error ${error.code}`
  if (!result) return statusText(status)
  return result.isError ? 'result with `isError`' : 'result'
}

function statusText(status: number): string {
  return status < 300 ? 'accepted' : `rejected with ${status}`
}
