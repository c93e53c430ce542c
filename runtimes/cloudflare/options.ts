/**
 * The options of a Worker.
 */
import type { PublicDocuments, Secrets } from '#internal/http'
import { requireKnown, type OptionNames } from '#internal/patterns'
import { SdkError } from '../../src/index.ts'
import type { Caller, HandlerOptions } from '../../src/presets/server.ts'
import type { EntrypointOptions } from './entrypoint.ts'

/** How a Worker serves a server. */
export interface WorkerOptions extends Omit<HandlerOptions, 'sessions'> {
  /**
   * The path of the endpoint.
   *
   * @default '/mcp'
   */
  path?: string
  /**
   * What `cardHandler` of `edgewise/cards` returned: it serves the server's card, and a catalog if you chose
   * one. Both are public, even if the server is protected.
   */
  card?: PublicDocuments
  /**
   * The path for clients that support only HTTP+SSE, the transport of 2024-11-05, such as `/sse`.
   * By default such clients are not served. Each of their sessions has its own object, regardless
   * of `sessionKey`.
   */
  ssePath?: string
  /**
   * Serves clients of every revision without Durable Objects. Handlers cannot request input from
   * clients of older revisions, and no client is notified of changes. With `secrets`, handlers can
   * request input from clients of 2026-07-28, and know the name and the capabilities of clients of older
   * revisions.
   *
   * @default false
   */
  stateless?: boolean
  /**
   * Returns the name of the object for a new session, such as the name of a user or a tenant. Sessions
   * with the same name share one object and its storage. By default, and for `undefined`, each session
   * has its own object, close to where it was opened.
   */
  sessionKey?: (
    request: Request,
    caller: Pick<Caller, 'principal' | 'auth'>,
  ) => string | undefined | Promise<string | undefined>
  /**
   * The name of the binding to the namespace of `McpSession`.
   *
   * @default 'MCP_SESSION'
   */
  sessionBinding?: string
  /**
   * The name of the binding to the namespace of `McpHub`.
   *
   * @default 'MCP_HUB'
   */
  hubBinding?: string
  /**
   * The name of the binding to the namespace of `McpTask`. Only servers with tasks need it, unless
   * they choose their own task store.
   *
   * @default 'MCP_TASK'
   */
  taskBinding?: string
  /**
   * The number of objects that announce changes. One object can have at most 32,768 streams, of
   * which one caller can have half. Up to about 10,000 streams per object are recommended. More
   * objects allow more clients to listen, but each change costs one request per object. After a
   * deployment with another number, clients cannot resume their streams. They open new streams.
   *
   * @default 1
   */
  hubShards?: number
  /**
   * How long a session lasts after its last request, in milliseconds. If its client had an open stream, the
   * session lasts for one to two times this duration after the end of the stream.
   *
   * @default 3600000
   */
  sessionIdleMs?: number
  /**
   * Secrets for the state that travels through clients, such as `env.MY_SECRET` with the `env` of
   * `cloudflare:workers`. The first secret seals state, and all of them can open it. The default is the
   * secret binding `MCP_SECRET`, or else a secret that is generated once and stored in an object.
   */
  secrets?: Secrets
  /** How other Workers may call the server, if the Worker exports its `entrypoint`. */
  entrypoint?: EntrypointOptions
}

/**
 * Validates options that would otherwise fail only on a request, such as numbers from configuration.
 *
 * @throws {SdkError} `INVALID_USE`.
 * @throws {TypeError} If an option of the entrypoint is unknown.
 */
export function checkOptions(options: WorkerOptions): void {
  // These defaults are any valid values, not the defaults of the options
  const { hubShards = 1, sessionIdleMs = 1, entrypoint = {} } = options
  const { maxOpenCalls = 1 } = entrypoint
  // The values have no meaning
  const optionNames: OptionNames<EntrypointOptions> = { caller: 1, maxOpenCalls: 1 }
  requireKnown('The entrypoint', entrypoint, optionNames)
  if (!Number.isInteger(hubShards) || hubShards <= 0) {
    throw new SdkError('INVALID_USE', `"hubShards" must be a number of objects, not ${hubShards}`)
  }
  if (!Number.isFinite(sessionIdleMs) || sessionIdleMs <= 0) {
    const message = `"sessionIdleMs" must be a number of milliseconds, not ${sessionIdleMs}`
    throw new SdkError('INVALID_USE', message)
  }
  // This comparison is false for `NaN`
  const isValidLimit = maxOpenCalls > 0
  if (!isValidLimit) {
    const message = `"maxOpenCalls" must be a number of calls, not ${maxOpenCalls}`
    throw new SdkError('INVALID_USE', message)
  }
}

/** The options of a Worker that must not be passed to a handler. */
const WORKER_OPTIONS = [
  'path',
  'card',
  'ssePath',
  'stateless',
  'sessionKey',
  'sessionBinding',
  'hubBinding',
  'taskBinding',
  'hubShards',
  'sessionIdleMs',
  'secrets',
  'entrypoint',
]

/** The options of a Worker that belong to the handler. */
export function handlerOptions(options: WorkerOptions): HandlerOptions {
  const entries = Object.entries(options).filter(([name]) => !WORKER_OPTIONS.includes(name))
  return Object.fromEntries(entries)
}
