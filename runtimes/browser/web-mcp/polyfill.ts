/**
 * A model context (WebMCP) for browsers without a model context, and for tests. It follows the draft, but
 * supports neither tools defined by forms nor documents of other origins.
 *
 * @see https://webmachinelearning.github.io/webmcp
 */
import { isObject, type JsonObject } from '../../../src/index.ts'
import { isSecureOrigin } from './exposed-origins.ts'
import {
  POLYFILL,
  type ModelContext,
  type ModelContextAnnotations,
  type ModelContextTool,
  type RegisteredTool,
} from './model-context.ts'

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

type EventType = 'toolchange' | 'toolactivated' | 'toolcancel'

/** A tool that a document registered; other documents of its origin read it too. */
interface Registration {
  readonly window: Window
  readonly name: string
  readonly title: string
  readonly description: string
  /** JSON text, so that other documents cannot change the schema. */
  readonly inputSchema: string | undefined
  readonly outputSchema: string | undefined
  readonly annotations: Required<ModelContextAnnotations> | undefined
  /** Fires an event of the document's model context. */
  readonly fire: (type: EventType, toolName?: string) => void
  readonly execute: ModelContextTool['execute']
  /** Whether the tool is still registered. */
  isRegistered: boolean
}

/**
 * Installs `document.modelContext`, unless the page already has a model context or is not a secure context.
 * Tools of frames of the same origin are listed if these frames install it too.
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
 * @returns Whether it was installed.
 * @see https://webmachinelearning.github.io/webmcp
 */
export function polyfillModelContext({ tools = 'dictionary' }: PolyfillOptions = {}): boolean {
  if (!isSecureContext || 'modelContext' in document) return false
  const value = createModelContext(tools)
  Object.defineProperty(document, 'modelContext', { value, configurable: true })
  return true
}

function createModelContext(shape: 'dictionary' | 'interface'): ModelContext {
  const registrations = new Map<string, Registration>()
  const listed = new WeakMap<object, Registration>()

  const context = Object.assign(new EventTarget(), {
    [POLYFILL]: () => registrations.values(),
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
        // Unregisters the tool, also long after this promise has resolved
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
          const tool = shape === 'interface' ? new Tool(registration) : dictionaryOf(registration)
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
      if (registration) return execute(registration, copy, signal)
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

/** Checks a tool, in the order of the draft. */
function createRegistration(tool: ModelContextTool, fire: Registration['fire']): Registration {
  const { name, title = '', description, annotations } = tool
  if (!/^[\w.-]{1,128}$/.test(name)) throw invalidState('Invalid tool name')
  if (description === undefined || typeof tool.execute !== 'function') {
    throw new TypeError('A tool has a description and a function "execute"')
  }
  if (description === '') throw invalidState('Description is required')
  return {
    window,
    name,
    title,
    description,
    inputSchema: jsonText(tool.inputSchema),
    outputSchema: jsonText(tool.outputSchema),
    annotations: annotations && {
      readOnlyHint: annotations.readOnlyHint ?? false,
      untrustedContentHint: annotations.untrustedContentHint ?? false,
      consequentialHint: annotations.consequentialHint ?? false,
      debugging: annotations.debugging ?? false,
    },
    fire,
    execute: (input, options) => tool.execute(input, options),
    isRegistered: true,
  }
}

function jsonText(schema: object | undefined): string | undefined {
  if (schema === undefined) return undefined
  const text: unknown = JSON.stringify(schema)
  if (typeof text === 'string') return text
  throw new TypeError('The schema has no JSON text')
}

/** Runs a tool. The calling page does not receive the reason of a failure. */
async function execute(
  { name, execute: executeTool, fire }: Registration,
  input: JsonObject,
  signal: AbortSignal | undefined,
): Promise<string> {
  fire('toolactivated', name)
  const controller = new AbortController()
  const finished = new AbortController()
  const aborted = new Promise<never>((_resolve, reject) => {
    const onAbort = (): void => {
      reject(signal?.reason as Error)
      controller.abort()
      fire('toolcancel', name)
    }
    signal?.addEventListener('abort', onAbort, { signal: finished.signal })
  })
  const run = async (): Promise<string> => {
    try {
      const text: unknown = JSON.stringify(await executeTool(input, { signal: controller.signal }))
      if (typeof text === 'string') return text
    } catch (error) {
      if (!signal?.aborted) console.error(error)
    }
    throw new DOMException('The tool failed', 'UnknownError')
  }
  return Promise.race([run(), aborted]).finally(() => finished.abort())
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
    if (!context || !(POLYFILL in context)) return []
    return [...(context[POLYFILL] as () => Iterable<Registration>)()]
  } catch {
    // The document of another origin cannot be read
    return []
  }
}

/** A tool as Chromium lists it up to 159. */
function dictionaryOf(registration: Registration): RegisteredTool {
  const { name, title, description, inputSchema, annotations } = registration
  return {
    name,
    title,
    description,
    ...(inputSchema !== undefined && { inputSchema: JSON.parse(inputSchema) as object }),
    ...(annotations && { annotations }),
    origin: registration.window.origin,
    window: registration.window,
  }
}

/** A tool as Chromium lists it from 160 on. All members are accessors, so that a copy has none of them. */
class Tool implements RegisteredTool {
  readonly #registration: Registration

  constructor(registration: Registration) {
    this.#registration = registration
  }

  get name(): string {
    return this.#registration.name
  }

  get title(): string {
    return this.#registration.title
  }

  get description(): string {
    return this.#registration.description
  }

  get inputSchema(): object | null {
    return parseSchema(this.#registration.inputSchema)
  }

  get outputSchema(): object | null {
    return parseSchema(this.#registration.outputSchema)
  }

  get annotations(): ModelContextAnnotations | null {
    return this.#registration.annotations ?? null
  }

  get origin(): string {
    return this.#registration.window.origin
  }

  get source(): Window {
    return this.#registration.window
  }
}

function parseSchema(text: string | undefined): object | null {
  return text === undefined ? null : (JSON.parse(text) as object)
}

function invalidState(message: string): DOMException {
  return new DOMException(message, 'InvalidStateError')
}

/** Queues a task, not a microtask, as browsers do for events. */
function queueTask(task: () => void): void {
  setTimeout(task)
}
