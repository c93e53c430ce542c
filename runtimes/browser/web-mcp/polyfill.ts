/**
 * A model context (WebMCP) for browsers without a model context, and for tests. It follows the draft, but
 * supports neither tools defined by forms nor documents of other origins.
 *
 * @see https://webmachinelearning.github.io/webmcp
 */
import { isObject } from '../../../src/index.ts'
import { isSecureOrigin } from './exposed-origins.ts'
import {
  POLYFILL_REGISTRATIONS,
  type ModelContext,
  type ModelContextTool,
  type RegisteredTool,
} from './model-context.ts'
import {
  createRegistration,
  dictionaryOf,
  invalidState,
  ListedTool,
  runTool,
  type EventType,
  type Registration,
} from './polyfill-tool.ts'

/** How the polyfill behaves. */
export interface PolyfillOptions {
  /**
   * What `getTools` resolves with: dictionaries, as in Chromium up to 159, or objects with accessors,
   * as in Chromium from 160 on.
   *
   * @default 'dictionary'
   */
  readonly tools?: 'dictionary' | 'interface' | undefined
}

/**
 * Installs `document.modelContext`, unless the page already has a model context or is not a secure context.
 * The tools of frames of the same origin are listed if these frames install the polyfill too.
 *
 * @example
 * ```ts
 * import { offerTools, polyfillModelContext } from 'edgewise/browser'
 * import { createServer } from 'edgewise/server'
 *
 * const server = createServer({ name: 'shop', version: '1.0.0' })
 * server.tool('search', { description: 'Searches the shop' }, () => 'Nothing found')
 *
 * polyfillModelContext()
 * await offerTools(server)
 * ```
 *
 * @returns Whether the polyfill was installed.
 * @see https://webmachinelearning.github.io/webmcp
 */
export function polyfillModelContext({ tools = 'dictionary' }: PolyfillOptions = {}): boolean {
  if (!isSecureContext || 'modelContext' in document) return false
  const value = createModelContext(tools)
  Object.defineProperty(document, 'modelContext', { value, configurable: true })
  return true
}

/** Creates a model context whose `getTools` returns tools of the given shape. */
function createModelContext(shape: 'dictionary' | 'interface'): ModelContext {
  const registrations = new Map<string, Registration>()
  /** The registrations of the objects that `getTools` has returned. */
  const listed = new WeakMap<object, Registration>()

  const context = Object.assign(new EventTarget(), {
    [POLYFILL_REGISTRATIONS]: () => registrations.values(),
    ontoolchange: null as ((event: Event) => void) | null,
    ontoolactivated: null as ((event: Event) => void) | null,
    ontoolcancel: null as ((event: Event) => void) | null,

    async registerTool(
      tool: ModelContextTool,
      options: { readonly signal?: AbortSignal; readonly exposedTo?: readonly string[] } = {},
    ): Promise<void> {
      const { name } = tool
      if (registrations.has(name)) throw invalidState('Duplicate tool name')
      const registration = createRegistration(tool, fire)
      const { signal, exposedTo = [] } = options
      if (!exposedTo.every(isSecureOrigin)) throw new DOMException('Bad origin', 'SecurityError')
      signal?.throwIfAborted()
      registrations.set(name, registration)
      await new Promise<void>((resolve, reject) => {
        // The signal unregisters the tool, even long after this promise has resolved
        signal?.addEventListener('abort', () => {
          registration.isRegistered = false
          registrations.delete(name)
          reject(signal.reason as Error)
          queueTask(() => fire('toolchange'))
        })
        queueTask(() => {
          if (registration.isRegistered) fire('toolchange')
          resolve()
        })
      })
    },

    async getTools(): Promise<readonly RegisteredTool[]> {
      return registrationsIn(window.top ?? window)
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .map((registration) => {
          const tool =
            shape === 'interface' ? new ListedTool(registration) : dictionaryOf(registration)
          listed.set(tool, registration)
          return tool
        })
    },

    async executeTool(
      tool: RegisteredTool,
      input: unknown = {},
      { signal }: { readonly signal?: AbortSignal } = {},
    ): Promise<string> {
      const copy: unknown = JSON.parse(JSON.stringify(input))
      if (!isObject(copy)) throw new TypeError('The input is not an object')
      signal?.throwIfAborted()
      const registration = findRegistration(tool)
      if (registration) return runTool(registration, copy, signal)
      throw new DOMException('The tool does not exist', 'UnknownError')
    },
  })

  function findRegistration(tool: RegisteredTool): Registration | undefined {
    if (shape === 'interface') {
      const registration = listed.get(tool)
      return registration?.isRegistered ? registration : undefined
    }
    const { name, window: owner } = tool
    return registrationsIn(window.top ?? window).find(
      (registration) => registration.name === name && registration.window === owner,
    )
  }

  function fire(type: EventType, toolName?: string): void {
    const event = Object.assign(new Event(type), toolName !== undefined && { toolName })
    context.dispatchEvent(event)
    context[`on${type}`]?.(event)
  }

  return context
}

/** The tools of a window and of its same-origin frames. */
function registrationsIn(view: Window): Registration[] {
  const frames = Array.from({ length: view.length }, (_, index) => view[index])
  return [
    ...registrationsOf(view),
    ...frames.flatMap((frame) => (frame ? registrationsIn(frame) : [])),
  ]
}

/** The tools of a window without its frames; empty if the window has another origin. */
function registrationsOf(view: Window): Registration[] {
  try {
    const context = (view.document as { modelContext?: object }).modelContext
    if (!context || !(POLYFILL_REGISTRATIONS in context)) return []
    return [...(context[POLYFILL_REGISTRATIONS] as () => Iterable<Registration>)()]
  } catch {
    // The document of another origin cannot be read
    return []
  }
}

/** Queues a task, not a microtask, as browsers do for events. */
function queueTask(task: () => void): void {
  setTimeout(task)
}
