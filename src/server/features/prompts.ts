/**
 * Prompts: templates that people pick.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/prompts
 */
import { isContentBlock } from '../../protocol/content.ts'
import type { JsonObject } from '../../protocol/jsonrpc.ts'
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
} from '../../protocol/types.ts'
import { requireKnown, type OptionNames } from '../../patterns/known-options.ts'
import { isObject } from '../../protocol/validate.ts'
import type { Completers } from './completion.ts'
import type { Context } from '../request/context.ts'
import type { HandlerContext } from '../request/base-request-context.ts'
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

/** How a prompt is described and checked. */
export interface PromptOptions<
  Input extends StandardSchema = StandardSchema,
  Env = unknown,
  Ctx = Context<Env>,
> {
  /** What people see (since 2025-06-18). */
  title?: string
  description?: string
  /** Checks the arguments: an object schema whose members accept text. Without it there are none. */
  input?: Input
  icons?: Icon[]
  /** The prompt's `_meta`. */
  meta?: Meta
  /** Completes the arguments, by name; a tiny server leaves it out. */
  complete?: Completers<Env, Ctx>
  /** Whether a caller may see and get the prompt; everybody by default. */
  visible?: (viewer: Viewer) => boolean
}

/** What a prompt may return: what the user says, or a whole result. */
export type PromptReturn = Content | GetPromptResult | InputRequiredResult

/** Refuses a schema with a member that takes no text, as all that clients send for a prompt is text. */
export type TextArguments<Input extends StandardSchema> = [Textless<InferInput<Input>>] extends [
  never,
]
  ? unknown
  : {
      input: `"${Textless<InferInput<Input>>}" must take text, such as z.coerce.number() and z.stringbool() do`
    }

/** The names of the members that take no text. */
type Textless<Given> = {
  [Name in keyof Given & string]-?: [Given[Name] & string] extends [never] ? Name : never
}[keyof Given & string]

/** Writes a prompt from arguments that its schema accepted. */
export type PromptHandler<Input extends StandardSchema, Env = unknown, Ctx = Context<Env>> = (
  args: InferOutput<Input>,
  ctx: Ctx,
) => PromptReturn | Promise<PromptReturn>

/** Changes a prompt later. */
export interface PromptRegistration<Env = unknown, Ctx = Context<Env>> extends Registration {
  /** Describes and writes the prompt in another way, under the same name. */
  update<Input extends StandardSchema>(
    options: PromptOptions<Input, Env, Ctx> & TextArguments<Input>,
    handler: PromptHandler<Input, Env, Ctx>,
  ): void
}

/** A registered prompt. */
export interface PromptEntry extends Entry {
  readonly item: Prompt
  readonly input: StandardSchema | undefined
  readonly complete: Completers | undefined
  readonly get: (args: unknown, ctx: Context) => PromptReturn | Promise<PromptReturn>
}

const OPTIONS = {
  ...COMMON_OPTIONS,
  ...{ input: 1, complete: 1 },
} satisfies OptionNames<PromptOptions>

/**
 * Makes an entry of a prompt; its list of arguments comes from the schema.
 *
 * @throws {TypeError} when the input is no object schema.
 */
export function promptEntry<Input extends StandardSchema>(
  name: string,
  options: PromptOptions<Input>,
  handler: PromptHandler<Input>,
): PromptEntry {
  requireKnown(`The prompt "${name}"`, options, OPTIONS)
  const { input, meta, complete, visible, ...described } = options
  const item: Prompt = { name, ...described }
  if (input) item.arguments = promptArguments(name, input)
  if (meta) item._meta = meta
  const get = requireHandler(handler, `The prompt "${name}"`)
  return { enabled: true, visible, item, input, complete, get }
}

/**
 * Writes one prompt.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` when no prompt has that name, or its schema refuses the
 *   arguments.
 */
export async function getPrompt(
  { prompts }: { readonly prompts: Registry<PromptEntry> },
  params: JsonObject,
  ctx: HandlerContext,
): Promise<Result> {
  const { name, args } = readNameAndArguments(params)
  const entry = prompts.require(name, ctx)
  for (const argument of Object.keys(args)) requireString(args, argument)

  const input = await entry.input?.['~standard'].validate(args)
  if (input?.issues) {
    const why = describeIssues(input.issues)
    throw invalidParams(`Invalid arguments for the prompt "${name}": ${why}`)
  }

  const returned = await entry.get(input ? input.value : {}, ctx)
  const maker = `The prompt "${name}"`
  if (!isResult(returned)) return toResult(requireBlocks(returned, maker), entry.item)
  const { messages } = returned as Partial<GetPromptResult>
  if (messages && !(Array.isArray(messages) && messages.every(isMessage))) {
    throw new TypeError(`${maker} has a message that is none`)
  }
  return returned
}

/** Whether a message has a role that prompts know, and one block of content. */
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

function promptArguments(name: string, input: StandardSchema): PromptArgument[] {
  const {
    type,
    properties = {},
    required = [],
  } = jsonSchemaOf(input, `The input of the prompt "${name}"`) as Partial<ObjectSchema>
  if (type !== 'object') {
    throw new TypeError(`The input of the prompt "${name}" must be an object schema`)
  }
  return Object.entries(properties).map(([name, { title, description }]) => {
    const argument: PromptArgument = { name, required: required.includes(name) }
    if (typeof title === 'string') argument.title = title
    if (typeof description === 'string') argument.description = description
    return argument
  })
}
