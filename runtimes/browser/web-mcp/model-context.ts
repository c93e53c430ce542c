/**
 * WebMCP: the interface through which a page registers tools for the agent of the browser, and lists
 * and calls the tools that are registered. It is a draft of the Web Machine Learning Community Group.
 * Chromium has implemented it experimentally since version 149, as `document.modelContext` in secure contexts.
 *
 * @see https://webmachinelearning.github.io/webmcp
 */
import type { JsonObject } from '../../../src/index.ts'

/** A tool, as passed to `registerTool`. */
export interface ModelContextTool {
  /** The name: 1 to 128 of the characters `A–Z a–z 0–9 _ - .` */
  readonly name: string
  readonly title?: string
  /** The description for the agent, which must not be empty. */
  readonly description: string
  readonly inputSchema: object
  /** Describes what `execute` resolves with. Chromium reads it since version 159. */
  readonly outputSchema?: object
  readonly annotations?: ModelContextAnnotations
  /** Runs the tool. Browsers that implement a draft from before 2026 pass no signal. */
  execute(input: JsonObject, options?: { readonly signal?: AbortSignal }): Promise<unknown>
}

/** What a page declares about the behavior of a tool. Each annotation is `false` by default. */
export interface ModelContextAnnotations {
  /** The tool changes nothing. */
  readonly readOnlyHint?: boolean
  /** The tool does something significant that is hard to undo; browsers may ask the user first. */
  readonly consequentialHint?: boolean
  /** The result contains text that the tool's author does not vouch for. */
  readonly untrustedContentHint?: boolean
  /** The tool is for developers, not for end users. */
  readonly debugging?: boolean
}

/**
 * A tool, as `getTools` lists it. Up to Chromium 159 it is a dictionary. From 160 on it is an object with
 * accessors on its prototype, and a copy of such an object cannot be executed.
 */
export interface RegisteredTool {
  readonly name: string
  /** Empty if the tool has no title. */
  readonly title?: string
  readonly description: string
  /** JSON text up to Chromium 153, an object in later versions. Missing or `null` if the tool has no schema. */
  readonly inputSchema?: object | string | null
  /** From Chromium 160 on. */
  readonly outputSchema?: object | null
  readonly annotations?: ModelContextAnnotations | null
  /** The origin of the document that registered the tool. */
  readonly origin: string
  /** The window of the document that registered the tool, up to Chromium 159. */
  readonly window?: Window
  /** The window of the document that registered the tool, from Chromium 160 on. */
  readonly source?: Window
}

/**
 * The browser's model context. Members that older drafts lack are optional.
 *
 * @see https://webmachinelearning.github.io/webmcp
 */
export interface ModelContext {
  /** Registers a tool. In older drafts it returns nothing, or a handle. */
  registerTool(
    tool: ModelContextTool,
    options?: { readonly signal?: AbortSignal; readonly exposedTo?: readonly string[] },
  ): unknown
  /** Removes a tool. Only older drafts have this method. Newer drafts use the signal of `registerTool`. */
  unregisterTool?(name: string): unknown
  /** Lists the tools that the page may use, of all documents of this tab. */
  getTools?(options?: {
    readonly fromOrigins?: readonly string[]
  }): Promise<readonly RegisteredTool[]>
  /**
   * Calls a tool. Resolves with the result as JSON text, or with `null` if the tool's document navigated away.
   */
  executeTool?(
    tool: RegisteredTool,
    input?: object | string,
    options?: { readonly signal?: AbortSignal },
  ): Promise<string | null>
  /** Listens to `toolchange`, `toolactivated` and `toolcancel`. */
  addEventListener?(
    type: string,
    listener: (event: Event) => void,
    options?: { readonly signal?: AbortSignal },
  ): void
}

/**
 * The key of the function that returns the registrations of the polyfill. The browser's own model context does
 * not have this key, so every script and frame of the page can tell the two apart by it.
 */
export const POLYFILL_REGISTRATIONS: unique symbol = /* @__PURE__ */ Symbol.for(
  'edgewise.modelContextPolyfill',
)

/** Which model context to find. */
export interface FindModelContextOptions {
  /**
   * Whether to ignore a model context that {@link polyfillModelContext} installed.
   *
   * @default false
   */
  readonly native?: boolean | undefined
}

/**
 * Finds the model context of this page: `document.modelContext`, or `navigator.modelContext` of
 * older drafts.
 *
 * @returns `undefined` if the browser has none, or the page is not a secure context.
 * @see https://webmachinelearning.github.io/webmcp
 */
export function findModelContext({ native = false }: FindModelContextOptions = {}):
  | ModelContext
  | undefined {
  const { document, navigator } = globalThis as { document?: object; navigator?: object }
  const context = contextOf(document) ?? contextOf(navigator)
  return native && context && POLYFILL_REGISTRATIONS in context ? undefined : context
}

function contextOf(holder: object | undefined): ModelContext | undefined {
  const value = holder && 'modelContext' in holder ? holder.modelContext : undefined
  const isContext = typeof value === 'object' && value !== null && 'registerTool' in value
  return isContext ? (value as ModelContext) : undefined
}
