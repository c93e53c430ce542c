/**
 * A server with the tools that the documents of this tab registered with the browser (WebMCP). An agent in
 * the page, or a remote agent, can call them through the server.
 *
 * @see https://webmachinelearning.github.io/webmcp
 */
import { callHook, requireKnown, semaphore, type OptionNames } from '#internal/patterns'
import { isContentBlock } from '#internal/protocol'
import {
  isObject,
  ToolError,
  type CallToolResult,
  type Implementation,
  type JsonObject,
  type StandardSchema,
  type ToolAnnotations,
} from '../../../src/index.ts'
import { createServer, type Server } from '../../../src/presets/server.ts'
import { findModelContext, type ModelContext, type RegisteredTool } from './model-context.ts'

/** Selects the tools of the page that are served, and changes how they are served. */
export interface PageToolsOptions {
  /** Other origins whose tools are served too. Each origin must expose its tools to the page. */
  readonly fromOrigins?: readonly string[] | undefined
  /** Which tools to serve. By default all tools are served. */
  readonly filter?: ((tool: RegisteredTool) => boolean) | undefined
  /**
   * Returns the name under which a tool is served. By default the tool keeps its name. If several tools
   * get the same name, the first of them in the browser's order is served, and `onError` is called for
   * each of the others.
   */
  readonly rename?: ((tool: RegisteredTool) => string) | undefined
  /** Where to look for tools. By default it is the page's own model context. */
  readonly modelContext?: ModelContext | undefined
  /** When the signal aborts, the server removes the tools, and no longer follows the page's list. */
  readonly signal?: AbortSignal | undefined
  /**
   * The server's name and version.
   *
   * @default { name: 'page', version: '1' }
   */
  readonly info?: Implementation | undefined
  /**
   * Called if the tools cannot be listed, or one of them cannot be served. An error that persists
   * while the list changes is reported once.
   *
   * @default console.error
   */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** The names of the options. The values have no meaning. */
const OPTION_NAMES: OptionNames<PageToolsOptions> = {
  fromOrigins: 1,
  filter: 1,
  rename: 1,
  modelContext: 1,
  signal: 1,
  info: 1,
  onError: 1,
}

/**
 * Creates a server with the tools that the documents of this tab registered. The server follows changes of
 * these tools. Serve it as any other server: in memory, over a port, or mounted.
 *
 * Names, descriptions, annotations and results come from the page and must not be trusted. Neither the
 * browser nor this server validates arguments, so the tools have to. If a tool fails, the call returns
 * an `isError` result without the reason. Browsers show the reason only in the page's console.
 *
 * @example
 * ```ts
 * import { pageTools } from 'edgewise/browser'
 * import { connectInMemory } from 'edgewise/testing'
 *
 * const server = await pageTools()
 * if (server) {
 *   await using client = await connectInMemory(server)
 *   console.log(await client.listAllTools())
 * }
 * ```
 *
 * @returns `undefined` if the browser has no model context that lists tools. Chromium 149 and newer
 *   have such a model context, if the feature is enabled.
 * @throws {TypeError} If an option is unknown.
 * @see https://webmachinelearning.github.io/webmcp
 */
export async function pageTools(options: PageToolsOptions = {}): Promise<Server | undefined> {
  requireKnown('pageTools', options, OPTION_NAMES)
  const modelContext = options.modelContext ?? findModelContext()
  const getTools = modelContext?.getTools?.bind(modelContext)
  const executeTool = modelContext?.executeTool?.bind(modelContext)
  if (!getTools || !executeTool) return undefined
  const server = createServer(options.info ?? { name: 'page', version: '1' })
  const mirror = new PageToolMirror(server, { getTools, executeTool }, options)
  const { signal } = options
  modelContext?.addEventListener?.(
    'toolchange',
    () => void mirror.update(),
    signal ? { signal } : {},
  )
  // After the abort, the update removes all tools
  signal?.addEventListener('abort', () => void mirror.update(), { once: true })
  await mirror.update()
  return server
}

type Execute = NonNullable<ModelContext['executeTool']>

/** The functions that list and call the tools of the page. */
interface PageAccess {
  readonly getTools: NonNullable<ModelContext['getTools']>
  readonly executeTool: Execute
}

/** A tool of the page that is served. */
interface ServedTool {
  /** The object from the browser's latest list. Browsers execute only the latest object. */
  listed: RegisteredTool
  /** Changes whenever the tool has to be registered again. */
  readonly fingerprint: string
  remove(): void
}

/** Keeps the tools of the server equal to the tools of the page. */
class PageToolMirror {
  readonly #server: Server
  readonly #access: PageAccess
  readonly #options: PageToolsOptions
  /** The served tools, by the names under which they are served. */
  readonly #served = new Map<string, ServedTool>()
  /** The errors of the last update. If an error persists, the next update does not report it again. */
  #lastErrors = new Set<string>()
  readonly #oneAtATime = semaphore(1)

  constructor(server: Server, access: PageAccess, options: PageToolsOptions) {
    this.#server = server
    this.#access = access
    this.#options = options
  }

  /** Serves new tools, and removes tools that the page no longer has. Updates run one at a time. */
  update(): Promise<void> {
    const { onError = console.error } = this.#options
    const errors = new Set<string>()
    const report = (error: unknown): void => {
      errors.add(String(error))
      if (!this.#lastErrors.has(String(error))) callHook(() => onError(error))
    }
    return this.#oneAtATime(async () => {
      await this.#update(report).catch(report)
      this.#lastErrors = errors
    })
  }

  async #update(report: (error: unknown) => void): Promise<void> {
    const listed = this.#options.signal?.aborted ? new Map() : await this.#list(report)
    for (const [name, served] of this.#served) {
      const tool = listed.get(name)
      if (tool && fingerprintOf(tool) === served.fingerprint) served.listed = tool
      else {
        served.remove()
        this.#served.delete(name)
      }
    }
    for (const [name, tool] of listed) {
      try {
        if (!this.#served.has(name)) this.#served.set(name, this.#serve(name, tool))
      } catch (error) {
        report(error)
      }
    }
  }

  /** Lists the tools of the page, by the names under which they are served. */
  async #list(report: (error: unknown) => void): Promise<Map<string, RegisteredTool>> {
    const { fromOrigins, filter = () => true, rename = ({ name }) => name } = this.#options
    const tools = await this.#access.getTools(fromOrigins ? { fromOrigins } : {})
    const listed = new Map<string, RegisteredTool>()
    for (const tool of tools.filter(filter)) {
      const name = rename(tool)
      if (listed.has(name)) {
        report(
          new TypeError(
            `The tool "${tool.name}" of ${tool.origin} is not served, because another is named "${name}": use "rename"`,
          ),
        )
      } else listed.set(name, tool)
    }
    return listed
  }

  /** Registers a tool of the page with the server. */
  #serve(name: string, tool: RegisteredTool): ServedTool {
    const { title, description } = tool
    const annotations = annotationsOf(tool)
    const registration = this.#server.tool(
      name,
      {
        description,
        ...(title && { title }),
        ...(annotations && { annotations }),
        input: unchecked(inputSchemaOf(tool)),
      },
      // Each update replaces `served.listed`, so the call reads it as late as possible
      (input, ctx) => callPageTool(this.#access.executeTool, served.listed, input, ctx.signal),
    )
    const served: ServedTool = {
      listed: tool,
      fingerprint: fingerprintOf(tool),
      remove: () => registration.remove(),
    }
    return served
  }
}

/**
 * Calls a tool of the page.
 *
 * @throws {ToolError} If the tool fails.
 */
async function callPageTool(
  execute: Execute,
  tool: RegisteredTool,
  input: JsonObject,
  signal: AbortSignal,
): Promise<CallToolResult> {
  let text: string | null
  try {
    text = await execute(tool, input, { signal }).catch((error: unknown) => {
      // Chromium up to 153 expects JSON text
      if (/parse input/i.test(String(error))) {
        return execute(tool, JSON.stringify(input), { signal })
      }
      throw error
    })
  } catch (error) {
    if (signal.aborted) throw error
    throw new ToolError(`The page's tool "${tool.name}" failed; see the console of its document`)
  }
  return text === null ? { content: [] } : resultOf(text)
}

/** Reads a result. It is JSON text, except that some browsers pass a string without encoding it. */
function resultOf(text: string): CallToolResult {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    value = text
  }
  if (typeof value === 'string') return { content: [{ type: 'text', text: value }] }
  if (!isObject(value)) return { content: [{ type: 'text', text }] }
  const { content, structuredContent, isError } = value
  if (!Array.isArray(content) || !content.every(isContentBlock)) {
    return { content: [{ type: 'text', text }], structuredContent: value }
  }
  return {
    content,
    ...(structuredContent !== undefined && { structuredContent }),
    ...(isError === true && { isError }),
  }
}

/** The properties of a listed tool that are served, as text that can be compared. */
function fingerprintOf({ title, description, inputSchema, annotations }: RegisteredTool): string {
  return JSON.stringify([title, description, inputSchema, annotations])
}

/** The input schema of a listed tool, which may be JSON text or missing. */
function inputSchemaOf({ inputSchema }: RegisteredTool): JsonObject {
  const schema: unknown = typeof inputSchema === 'string' ? JSON.parse(inputSchema) : inputSchema
  return isObject(schema) ? schema : { type: 'object' }
}

/**
 * The annotations in MCP's terms. Browsers list an annotation that the page did not set as `false`, so
 * `false` is left out: it must not become a claim that the tool is harmless.
 */
function annotationsOf({ annotations }: RegisteredTool): ToolAnnotations | undefined {
  if (!annotations) return undefined
  return {
    ...(annotations.readOnlyHint && { readOnlyHint: true }),
    ...(annotations.consequentialHint && { destructiveHint: true }),
    ...(annotations.untrustedContentHint && { openWorldHint: true }),
  }
}

/** A schema that describes the arguments to clients, but accepts any object. */
function unchecked(schema: JsonObject): StandardSchema<JsonObject> {
  return {
    '~standard': {
      version: 1,
      vendor: 'edgewise',
      validate: (value) => ({ value: isObject(value) ? value : {} }),
      jsonSchema: { input: () => schema, output: () => schema },
    },
  }
}
