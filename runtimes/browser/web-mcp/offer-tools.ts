/**
 * Offers tools to the agent of the browser (WebMCP), if the browser has one.
 *
 * @see https://webmachinelearning.github.io/webmcp
 */
import { callHook, requireKnown, semaphore, type OptionNames } from '#internal/patterns'
import { connect, type Client, type ConnectOptions } from '../../../src/presets/client.ts'
import { SdkError, type CallToolResult, type JsonObject, type Tool } from '../../../src/index.ts'
import { serveTransport } from '../../../src/presets/server.ts'
import type { Server } from '../../../src/presets/server-tiny.ts'
import { inMemoryTransports } from '../../../src/transport/index.ts'
import { isSecureOrigin } from './exposed-origins.ts'
import { findModelContext, type ModelContext } from './model-context.ts'
import { callTool, modelContextTool, type ToolPresentation } from './model-context-tool.ts'

/** How tools are offered. */
export interface OfferToolsOptions extends ToolPresentation {
  /** Withdraws the tools when the signal aborts. */
  readonly signal?: AbortSignal | undefined
  /** Which tools to offer. By default all tools are offered. */
  readonly filter?: ((tool: Tool) => boolean) | undefined
  /**
   * Origins whose documents in this tab may use the tools, in addition to the page's. The browser
   * does not say which document calls.
   */
  readonly exposedTo?: readonly string[] | undefined
  /** Where to offer the tools. By default it is the page's own model context. */
  readonly modelContext?: ModelContext | undefined
  /**
   * Called if the tools cannot be listed, or the browser rejects one of them.
   *
   * @default console.error
   */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** Tools that are offered. */
export interface OfferedTools {
  /** The names of the tools that the browser accepted. */
  readonly names: readonly string[]
  /** Withdraws all tools. Calls that are running continue until they end. */
  close(): Promise<void>
}

/** The names of the options. The values have no meaning. */
const OPTION_NAMES: OptionNames<OfferToolsOptions & { connect?: ConnectOptions }> = {
  signal: 1,
  filter: 1,
  annotate: 1,
  results: 1,
  exposedTo: 1,
  modelContext: 1,
  onError: 1,
  connect: 1,
}

/** The names of tools that browsers accept. */
const TOOL_NAME = /^[\w.-]{1,128}$/

/**
 * Offers tools to the browser's agent, and updates the offer when the list of tools changes. The tools
 * come from a server in this page, or from the server that a client is connected to.
 *
 * The tools of a server in this page run as they do for every client: with middleware, validation of
 * arguments, and requests for input. The handlers in the option `connect` answer such requests, since the
 * user is present in the page. The principal of each call is the origin of the page.
 *
 * @example
 * ```ts
 * import { offerTools } from 'edgewise/browser'
 * import { createServer } from 'edgewise/server'
 *
 * const server = createServer({ name: 'shop', version: '1.0.0' })
 * server.tool('search', { description: 'Searches the shop' }, () => 'Nothing found')
 *
 * const offered = await offerTools(server)
 * console.log(offered?.names ?? 'This browser has no agent')
 * ```
 *
 * @param source A server in this page, or a client, which stays open when the tools are withdrawn.
 * @returns `undefined` if the browser has no model context.
 * @throws {TypeError} If `exposedTo` contains something other than an origin that is `https:` or
 *   loopback, or an option is unknown.
 * @see https://webmachinelearning.github.io/webmcp
 */
export async function offerTools(
  source: Server | Client,
  options: OfferToolsOptions & { readonly connect?: ConnectOptions } = {},
): Promise<OfferedTools | undefined> {
  // If the option `filter` were misspelled, all tools would be offered
  requireKnown('offerTools', options, OPTION_NAMES)
  const modelContext = options.modelContext ?? findModelContext()
  if (!modelContext) return undefined
  options.exposedTo?.forEach(requireSecureOrigin)
  const { onError = console.error } = options
  const report = (error: unknown): void => callHook(() => onError(error))
  const isClient = 'callTool' in source
  const client = isClient ? source : await connectToServer(source, report, options.connect)
  const offer = new ToolOffer(modelContext, options, report, client)
  const closing = new AbortController()
  const close = async (): Promise<void> => {
    offer.withdraw()
    closing.abort()
    if (isClient) return
    if (offer.running.size === 0) await client.close()
    else void Promise.allSettled(offer.running).then(() => client.close())
  }
  options.signal?.addEventListener('abort', () => void close(), { once: true })
  if (options.signal?.aborted) await close()
  else {
    // Changes are followed before the tools are listed, so that no change is missed
    await followChanges(client, closing.signal, () => void offer.update(), report)
    await offer.update()
  }
  return {
    get names() {
      return offer.names
    },
    close,
  }
}

/** Connects to a server in this page. */
function connectToServer(
  server: Server,
  report: (error: unknown) => void,
  options: ConnectOptions | undefined,
): Promise<Client> {
  const [clientSide, serverSide] = inMemoryTransports()
  serveTransport(server, serverSide, { caller: { principal: globalThis.origin } }).catch(report)
  return connect(clientSide, {
    info: { name: 'browser', version: '1' },
    onError: report,
    ...options,
  })
}

/** Calls `onChange` whenever the list of tools changes, if the server announces such changes. */
async function followChanges(
  client: Client,
  signal: AbortSignal,
  onChange: () => void,
  report: (error: unknown) => void,
): Promise<void> {
  const changes = await client.listen({ toolsListChanged: true }, { signal }).catch((error) => {
    const isUnsupported = error instanceof SdkError && error.code === 'UNSUPPORTED'
    if (!signal.aborted && !isUnsupported) report(error)
  })
  if (!changes) return
  const handleChanges = async (): Promise<void> => {
    for await (const _ of changes) onChange()
  }
  handleChanges().catch((error) => {
    if (!signal.aborted) report(error)
  })
}

/**
 * Rejects an origin to which browsers expose no tools. The browser itself would reject every tool, each with
 * an error that does not name the origin.
 */
function requireSecureOrigin(origin: string): void {
  if (isSecureOrigin(origin)) return
  throw new TypeError(
    `Cannot expose tools to "${origin}": use an origin such as "https://example.com"`,
  )
}

/** The tools that are offered at the moment. */
class ToolOffer {
  /** The calls that are not finished. */
  readonly running = new Set<Promise<unknown>>()
  readonly #context: ModelContext
  readonly #options: OfferToolsOptions
  readonly #report: (error: unknown) => void
  readonly #client: Client
  /**
   * The offered tools by name. For each tool: the controller whose abort withdraws the tool, and the tool as JSON,
   * to detect changes.
   */
  readonly #offered = new Map<string, { withdrawal: AbortController; toolJson: string }>()
  /** The tools that the browser refused, as JSON. Each of them is reported only once. */
  readonly #refused = new Set<string>()
  readonly #oneAtATime = semaphore(1)
  #closed = false

  constructor(
    context: ModelContext,
    options: OfferToolsOptions,
    report: (error: unknown) => void,
    client: Client,
  ) {
    this.#context = context
    this.#options = options
    this.#report = report
    this.#client = client
  }

  get names(): readonly string[] {
    return [...this.#offered.keys()]
  }

  /** Offers new tools, and withdraws tools that are gone. Updates run one at a time. */
  update(): Promise<unknown> {
    return this.#oneAtATime(() => this.#update()).catch((error: unknown) => {
      if (!this.#closed) this.#report(error)
    })
  }

  /** Withdraws all tools. From now on, no tool is offered. */
  withdraw(): void {
    this.#closed = true
    for (const name of this.names) this.#withdraw(name)
  }

  async #update(): Promise<void> {
    if (this.#closed) return
    const { filter = () => true } = this.#options
    const tools = (await this.#client.listAllTools({ cache: 'reload' })).filter(filter)
    const listed = new Map(tools.map((tool) => [tool.name, tool]))
    for (const [name, { toolJson }] of this.#offered) {
      const tool = listed.get(name)
      if (!tool || JSON.stringify(tool) !== toolJson) this.#withdraw(name)
    }
    for (const tool of tools) {
      if (!this.#closed && !this.#offered.has(tool.name)) await this.#offer(tool)
    }
  }

  /** Registers a tool with the browser. Reports a tool that the browser refuses. */
  async #offer(tool: Tool): Promise<void> {
    const { name } = tool
    const toolJson = JSON.stringify(tool)
    if (this.#refused.has(toolJson)) return
    try {
      if (!TOOL_NAME.test(name)) {
        throw new SdkError(
          'UNSUPPORTED',
          `Browsers accept no tool named "${name}": use 1 to 128 of A-Z a-z 0-9 _ - .`,
        )
      }
      const withdrawal = new AbortController()
      const { exposedTo } = this.#options
      const contextTool = modelContextTool(tool, this.#options, (input, signal) =>
        this.#call(name, input, signal),
      )
      // Recorded before the browser registers the tool, so that a withdrawal in the meantime finds the tool
      this.#offered.set(name, { withdrawal, toolJson })
      await this.#context.registerTool(contextTool, {
        signal: withdrawal.signal,
        ...(exposedTo && { exposedTo }),
      })
    } catch (error) {
      this.#offered.delete(name)
      if (this.#closed) return
      this.#refused.add(toolJson)
      // This error means that the page's policy forbids all tools, so no other tool is offered
      this.#closed = error instanceof DOMException && error.name === 'NotAllowedError'
      if (this.#closed || error instanceof SdkError) return this.#report(error)
      const message = `Cannot offer the tool "${name}": ${String(error)}`
      this.#report(new SdkError('UNSUPPORTED', message, { cause: error }))
    }
  }

  /** Calls a tool, and records the call in {@link running} until it ends. */
  #call(name: string, input: JsonObject, signal?: AbortSignal): Promise<CallToolResult> {
    const result = callTool(this.#client, name, input, signal)
    this.running.add(result)
    const remove = (): unknown => this.running.delete(result)
    result.then(remove, remove)
    return result
  }

  #withdraw(name: string): void {
    this.#offered.get(name)?.withdrawal.abort()
    this.#offered.delete(name)
    try {
      this.#context.unregisterTool?.(name)
    } catch {
      // Browsers that also support the signal have already removed the tool
    }
  }
}
