/**
 * WebMCP: offers the tools of a server to the agent that works in the browser with the user, where
 * the browser has such a thing. A draft; what is followed here is `document.modelContext`, and
 * before it `navigator.modelContext`.
 *
 * @see https://webmachinelearning.github.io/webmcp
 */
import { connect, type Client, type ConnectOptions } from '../../src/client/index.ts'
import { McpError, type JsonObject, type Tool } from '../../src/index.ts'
import { serveTransport, type LeanServer } from '../../src/server/index.ts'
import { inMemoryTransports } from '../../src/transport/index.ts'

/** A tool, as the browser takes it. */
export interface ModelContextTool {
  readonly name: string
  readonly title?: string
  readonly description: string
  readonly inputSchema: object
  readonly annotations?: ModelContextAnnotations
  /** Runs the tool. Drafts before 2026 give no signal. */
  execute(input: JsonObject, options?: { readonly signal?: AbortSignal }): Promise<unknown>
}

/** What a browser is told about a tool, beside what it does. */
export interface ModelContextAnnotations {
  readonly readOnlyHint?: boolean
  readonly consequentialHint?: boolean
  readonly untrustedContentHint?: boolean
}

/** The part of the browser's model context that is used. */
export interface ModelContext {
  /** Older drafts return nothing, or a handle. */
  registerTool(
    tool: ModelContextTool,
    options?: { readonly signal?: AbortSignal; readonly exposedTo?: readonly string[] },
  ): unknown
  /** In older drafts; the signal does it since. */
  unregisterTool?(name: string): unknown
}

/** How tools are offered. */
export interface OfferToolsOptions {
  /** Withdraws the tools when it fires. */
  readonly signal?: AbortSignal | undefined
  /** Which tools to offer; all by default. */
  readonly filter?: ((tool: Tool) => boolean) | undefined
  /** Origins whose documents in this page may use the tools too, beside the page's own. */
  readonly exposedTo?: readonly string[] | undefined
  /** Where to offer them; the page's own model context by default. */
  readonly modelContext?: ModelContext | undefined
  /** Learns of tools that the browser refused; `console.error` by default. */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** Tools that are on offer. */
export interface OfferedTools {
  /** The names of the tools that the browser took. */
  readonly names: readonly string[]
  /** Withdraws them all. */
  close(): Promise<void>
}

/** The names that a model context takes. */
const NAME = /^[\w.-]{1,128}$/

/** The model context of this page, where the browser has one. */
export function findModelContext(): ModelContext | undefined {
  const { document, navigator } = globalThis as { document?: object; navigator?: object }
  return contextOf(document) ?? contextOf(navigator)
}

function contextOf(holder: object | undefined): ModelContext | undefined {
  const found = holder && 'modelContext' in holder ? holder.modelContext : undefined
  const usable = typeof found === 'object' && found !== null && 'registerTool' in found
  return usable ? (found as ModelContext) : undefined
}

/**
 * Offers the tools of a server to the browser's agent, and follows its list as it changes.
 *
 * The tools run as they do for every client: with middleware, checks of their arguments, and
 * questions, which the handlers of `connect` answer; the user is there, in the page.
 *
 * @returns Nothing where the browser has no model context.
 */
export async function offerTools(
  server: LeanServer,
  options: OfferToolsOptions & { readonly connect?: ConnectOptions } = {},
): Promise<OfferedTools | undefined> {
  const modelContext = options.modelContext ?? findModelContext()
  if (!modelContext) return undefined
  const report = options.onError ?? ((error: unknown) => console.error(error))
  const [near, far] = inMemoryTransports()
  serveTransport(server, far, { caller: { principal: globalThis.origin } }).catch(report)
  const offered = new Offer(modelContext, options, report)
  const client = await connect(near, {
    info: { name: 'browser', version: '1' },
    onError: report,
    ...options.connect,
    onToolsChanged: () => {
      options.connect?.onToolsChanged?.()
      void offered.update(client)
    },
  })
  await offered.update(client)
  const close = async (): Promise<void> => {
    offered.withdraw()
    await client.close()
  }
  options.signal?.addEventListener('abort', () => void close(), { once: true })
  if (options.signal?.aborted) await close()
  return {
    get names() {
      return offered.names
    },
    close,
  }
}

/** What is on offer at the moment. */
class Offer {
  readonly #context: ModelContext
  readonly #options: OfferToolsOptions
  readonly #report: (error: unknown) => void
  /** What withdraws each tool, and what the browser was told of it. */
  readonly #offered = new Map<string, { ending: AbortController; described: string }>()
  #updating: Promise<void> = Promise.resolve()
  #closed = false

  constructor(context: ModelContext, options: OfferToolsOptions, report: (error: unknown) => void) {
    this.#context = context
    this.#options = options
    this.#report = report
  }

  get names(): readonly string[] {
    return [...this.#offered.keys()]
  }

  /** Offers what is new, withdraws what is gone. One update after the other. */
  update(client: Client): Promise<void> {
    this.#updating = this.#updating.then(() => this.#update(client)).catch(this.#report)
    return this.#updating
  }

  withdraw(): void {
    this.#closed = true
    for (const name of this.names) this.#withdraw(name)
  }

  async #update(client: Client): Promise<void> {
    const { filter = () => true } = this.#options
    const tools = (await client.listAllTools({ fresh: true })).filter(filter)
    const listed = new Map(tools.map((tool) => [tool.name, tool]))
    for (const [name, { described }] of this.#offered) {
      const tool = listed.get(name)
      if (!tool || JSON.stringify(tool) !== described) this.#withdraw(name)
    }
    for (const tool of tools) {
      if (!this.#offered.has(tool.name)) await this.#offer(tool, client)
    }
  }

  async #offer(tool: Tool, client: Client): Promise<void> {
    const { name } = tool
    try {
      if (this.#closed) return
      if (!NAME.test(name)) {
        throw new McpError('UNSUPPORTED', `Browsers take no tool that is called "${name}"`)
      }
      const ending = new AbortController()
      const { exposedTo } = this.#options
      const described = JSON.stringify(tool)
      const registration: unknown = this.#context.registerTool(describe(tool, client), {
        signal: ending.signal,
        ...(exposedTo && { exposedTo }),
      })
      // In place at once, so that nothing that happens meanwhile leaves the tool behind
      this.#offered.set(name, { ending, described })
      await registration
    } catch (error) {
      this.#offered.delete(name)
      if (!this.#closed) this.#report(error)
    }
  }

  #withdraw(name: string): void {
    this.#offered.get(name)?.ending.abort()
    this.#offered.delete(name)
    try {
      this.#context.unregisterTool?.(name)
    } catch {
      // Where there is the signal, the tool is gone already
    }
  }
}

function describe(tool: Tool, client: Client): ModelContextTool {
  const { name, title, description, inputSchema, annotations } = tool
  const { readOnlyHint, destructiveHint, openWorldHint } = annotations ?? {}
  return {
    name,
    // A description is needed
    description: description || title || name,
    ...(title !== undefined && { title }),
    inputSchema,
    annotations: {
      readOnlyHint: readOnlyHint === true,
      consequentialHint: destructiveHint === true && readOnlyHint !== true,
      untrustedContentHint: openWorldHint === true,
    },
    execute: async (input, options) => {
      const { content, structuredContent, isError } = await client.callTool(name, input, {
        // Older drafts give something else in its place
        ...(options?.signal instanceof AbortSignal && { signal: options.signal }),
      })
      // A failure is a result as well, as a rejection would tell the agent nothing
      return {
        content,
        ...(structuredContent !== undefined && { structuredContent }),
        ...(isError && { isError }),
      }
    },
  }
}
