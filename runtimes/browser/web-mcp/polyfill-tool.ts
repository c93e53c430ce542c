/**
 * A tool of the polyfill: how a document registers it, runs it and lists it.
 *
 * @see https://webmachinelearning.github.io/webmcp
 */
import type { JsonObject } from '../../../src/index.ts'
import type { ModelContextAnnotations, ModelContextTool, RegisteredTool } from './model-context.ts'

/** An event of a model context. */
export type EventType = 'toolchange' | 'toolactivated' | 'toolcancel'

/** A tool that a document registered. Other documents of the same origin can read it. */
export interface Registration {
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

/** Checks a tool, in the order that the draft prescribes, and creates its registration. */
export function createRegistration(
  tool: ModelContextTool,
  fire: Registration['fire'],
): Registration {
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

/** Runs a tool. If it fails, the calling page does not receive the reason. */
export async function runTool(
  { name, execute, fire }: Registration,
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
      const text: unknown = JSON.stringify(await execute(input, { signal: controller.signal }))
      if (typeof text === 'string') return text
    } catch (error) {
      if (!signal?.aborted) console.error(error)
    }
    throw new DOMException('The tool failed', 'UnknownError')
  }
  return Promise.race([run(), aborted]).finally(() => finished.abort())
}

/** A tool as Chromium lists it up to 159. */
export function dictionaryOf(registration: Registration): RegisteredTool {
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
export class ListedTool implements RegisteredTool {
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

/** Creates the error for a tool that cannot be registered. */
export function invalidState(message: string): DOMException {
  return new DOMException(message, 'InvalidStateError')
}
