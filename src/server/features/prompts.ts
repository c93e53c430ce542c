/**
 * Prompts: templates that users choose.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/prompts
 */
import { isContentBlock } from '../../protocol/content.ts'
import {
  describeIssues,
  jsonSchemaOf,
  type InferInput,
  type InferOutput,
  type StandardSchema,
} from '../../protocol/standard-schema.ts'
import type {
  ContentBlock,
  GetPromptResult,
  Icon,
  InputRequiredResult,
  Meta,
  ObjectSchema,
  Prompt,
  PromptArgument,
  PromptMessage,
  Result,
  JsonObject,
} from '../../protocol/types.ts'
import { requireKnown, type OptionNames } from '../../patterns/known-options.ts'
import { isObject } from '../../protocol/validate.ts'
import type { Completers } from './completion.ts'
import type { Context } from '../request/context.ts'
import type { InternalContext } from '../request/base-request-context.ts'
import type { Viewer } from '../request/exchange.ts'
import { invalidParams, readNameAndArguments, requireString } from '../request/params.ts'
import {
  COMMON_OPTIONS,
  requireHandler,
  type Entry,
  type Registration,
  type Registry,
} from '../registry.ts'
import { requireBlocks, type Content } from './results.ts'

/** Metadata of a prompt, and the schema of its arguments. */
export interface PromptOptions<Input extends StandardSchema = StandardSchema, Env = unknown> {
  /** The display name (since 2025-06-18). */
  title?: string
  description?: string
  /**
   * Validates the arguments: an object schema whose members accept text. Without it, the prompt has
   * no arguments.
   */
  input?: Input
  icons?: Icon[]
  /** The prompt's `_meta`. */
  meta?: Meta
  /** Completers, keyed by argument name. */
  complete?: Completers<Env>
  /** Whether a caller may list and get the prompt. By default every caller may. */
  visible?: (viewer: Viewer) => boolean
}

/** What a prompt handler may return: the content of a user message, or a whole result. */
export type PromptReturn = Content | GetPromptResult | InputRequiredResult

/**
 * Rejects a schema with a member that does not accept text, because clients send prompt arguments
 * as text.
 */
export type TextArguments<Input extends StandardSchema> = [
  NonTextMembers<InferInput<Input>>,
] extends [never]
  ? unknown
  : {
      input: `"${NonTextMembers<InferInput<Input>>}" must take text, such as z.coerce.number() and z.stringbool() do`
    }

/** The names of the members that do not accept text. */
type NonTextMembers<Given> = {
  [Name in keyof Given & string]-?: [Given[Name] & string] extends [never] ? Name : never
}[keyof Given & string]

/** Creates the messages of a prompt from validated arguments. */
export type PromptHandler<Input extends StandardSchema, Env = unknown> = (
  args: InferOutput<Input>,
  ctx: Context<Env>,
) => PromptReturn | Promise<PromptReturn>

/** Updates or removes a registered prompt. */
export interface PromptRegistration<Env = unknown> extends Registration {
  /** Replaces the prompt's options and handler, under the same name. */
  update<Input extends StandardSchema>(
    options: PromptOptions<Input, Env> & TextArguments<Input>,
    handler: PromptHandler<Input, Env>,
  ): void
}

/** A registered prompt. */
export interface PromptEntry extends Entry {
  readonly item: Prompt
  readonly input: StandardSchema | undefined
  readonly complete: Completers | undefined
  readonly get: (args: unknown, ctx: Context) => PromptReturn | Promise<PromptReturn>
}

/**
 * Creates a prompt's entry; the list of arguments is derived from the schema.
 *
 * @throws {TypeError} If the input is not an object schema.
 */
export function promptEntry<Input extends StandardSchema>(
  name: string,
  options: PromptOptions<Input>,
  handler: PromptHandler<Input>,
): PromptEntry {
  const optionNames: OptionNames<PromptOptions> = { ...COMMON_OPTIONS, input: 1, complete: 1 }
  requireKnown(`The prompt "${name}"`, options, optionNames)
  const { input, meta, complete, visible, ...metadata } = options
  const item: Prompt = { name, ...metadata }
  if (input) item.arguments = promptArguments(name, input)
  if (meta) item._meta = meta
  const get = requireHandler(handler, `The prompt "${name}"`)
  return { enabled: true, visible, item, input, complete, get }
}

/**
 * Answers `prompts/get`.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` if no prompt has that name, or the arguments are
 * invalid.
 */
export async function getPrompt(
  { prompts }: { readonly prompts: Registry<PromptEntry> },
  params: JsonObject,
  ctx: InternalContext,
): Promise<Result> {
  const { name, args } = readNameAndArguments(params)
  const entry = prompts.require(name, ctx)
  for (const argument of Object.keys(args)) requireString(args, argument)

  const input = await entry.input?.['~standard'].validate(args)
  if (input?.issues) {
    const reason = describeIssues(input.issues)
    throw invalidParams(`Invalid arguments for the prompt "${name}": ${reason}`)
  }

  const returned = await entry.get(input ? input.value : {}, ctx)
  const label = `The prompt "${name}"`
  if (!isResult(returned)) return toResult(requireBlocks(returned, label), entry.item)
  const { messages } = returned as Partial<GetPromptResult>
  if (messages && !(Array.isArray(messages) && messages.every(isMessage))) {
    throw new TypeError(`${label} has an invalid message`)
  }
  return returned
}

/** Whether a value is a message with a valid role and one content block. */
function isMessage(message: unknown): message is PromptMessage {
  if (!isObject(message)) return false
  const { role, content } = message
  return (role === 'user' || role === 'assistant') && isContentBlock(content)
}

function isResult(returned: PromptReturn): returned is GetPromptResult | InputRequiredResult {
  return isObject(returned) && ('messages' in returned || 'resultType' in returned)
}

function toResult(blocks: ContentBlock[], { description }: Prompt): GetPromptResult {
  const messages = blocks.map((block) => ({ role: 'user' as const, content: block }))
  return description === undefined ? { messages } : { description, messages }
}

function promptArguments(promptName: string, input: StandardSchema): PromptArgument[] {
  const {
    type,
    properties = {},
    required = [],
  } = jsonSchemaOf(input, `The input of the prompt "${promptName}"`) as Partial<ObjectSchema>
  if (type !== 'object') {
    throw new TypeError(`The input of the prompt "${promptName}" must be an object schema`)
  }
  return Object.entries(properties).map(([name, { title, description }]) => {
    const argument: PromptArgument = { name, required: required.includes(name) }
    if (typeof title === 'string') argument.title = title
    if (typeof description === 'string') argument.description = description
    return argument
  })
}
