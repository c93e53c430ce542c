/**
 * How a Worker is set up.
 */
import type { Secrets } from '#internal/http'
import { McpError } from '../../src/index.ts'
import type { Caller, HandlerOptions } from '../../src/presets/server.ts'

/** How a server is served by a Worker. */
export interface WorkerOptions extends Omit<HandlerOptions, 'sessions'> {
  /** Where the endpoint is; `/mcp` by default. */
  path?: string
  /**
   * Where clients are served that know only HTTP+SSE, the transport of 2024-11-05, such as `/sse`;
   * nowhere by default. Each of their sessions has an object of its own, whatever `sessionKey` says.
   */
  ssePath?: string
  /**
   * Serves clients of every revision without Durable Objects. Handlers cannot ask clients of older
   * revisions, and no client hears of changes. Asking clients of 2026-07-28 requires `secrets`, with
   * which handlers also know the name and the capabilities of older clients.
   */
  stateless?: boolean
  /**
   * Chooses the object of a new session by a name, such as that of a user or a tenant: sessions of
   * the same name share one object and its storage. By default, and for `undefined`, each session
   * gets an object of its own, close to where it was opened.
   */
  sessionKey?: (
    request: Request,
    caller: Pick<Caller, 'principal' | 'auth'>,
  ) => string | undefined | Promise<string | undefined>
  /** The name of the binding to the namespace of `McpSession`; `MCP_SESSION` by default. */
  sessionBinding?: string
  /** The name of the binding to the namespace of `McpHub`; `MCP_HUB` by default. */
  hubBinding?: string
  /**
   * The name of the binding to the namespace of `McpTask`; `MCP_TASK` by default. Only
   * servers that serve tasks need it, unless they choose a store for these themselves.
   */
  taskBinding?: string
  /**
   * How many objects share the telling of changes; 1 by default. One serves about 10,000 streams
   * well and 32,768 at most, half of these for one caller. With more objects more clients can listen,
   * and each change costs one request for each object.
   * After another number is deployed, clients cannot resume streams and open new ones.
   */
  hubShards?: number
  /**
   * Milliseconds without a request after which a session ends, and up to twice that after its stream
   * ended; one hour by default.
   */
  sessionIdleMs?: number
  /**
   * Secrets that seal what travels through clients, such as `env.MY_SECRET` with the `env` of
   * `cloudflare:workers`; the first seals, all open.
   *
   * @default the secret binding `MCP_SECRET`; without it, one that is minted once and kept by an object
   */
  secrets?: Secrets
}

/**
 * Checks what would show only when a client comes: numbers that were read from somewhere.
 *
 * @throws {McpError} `INVALID_USE`.
 */
export function checkNumbers({ hubShards = 1, sessionIdleMs = 1 }: WorkerOptions): void {
  if (!(Number.isInteger(hubShards) && hubShards > 0)) {
    throw new McpError('INVALID_USE', `"hubShards" must be a number of objects, not ${hubShards}`)
  }
  if (!(Number.isFinite(sessionIdleMs) && sessionIdleMs > 0)) {
    const message = `"sessionIdleMs" must be a number of milliseconds, not ${sessionIdleMs}`
    throw new McpError('INVALID_USE', message)
  }
}

/** What a Worker adds to the options of a handler, in which none of it may be. */
const OWN = [
  ...['path', 'ssePath', 'stateless', 'sessionKey', 'sessionBinding', 'hubBinding'],
  ...['taskBinding', 'hubShards', 'sessionIdleMs', 'secrets'],
]

/** The options of a Worker that are a handler's. */
export function handlerOptions(options: WorkerOptions): HandlerOptions {
  return Object.fromEntries(Object.entries(options).filter(([name]) => !OWN.includes(name)))
}
