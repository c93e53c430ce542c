/**
 * Tools: what a model can call.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools
 */
import { ProtocolError, ToolError } from '../../protocol/errors.ts'
import { findHeaderParams, type HeaderParam } from '../../protocol/header-params.ts'
import { requireKnown, type OptionNames } from '../../patterns/known-options.ts'
import type { JsonObject } from '../../protocol/jsonrpc.ts'
import {
  describeIssues,
  jsonSchemaOf,
  type InferInput,
  type InferOutput,
  type StandardSchema,
} from '../../protocol/standard-schema.ts'
import type {
  Icon,
  Meta,
  ObjectSchema,
  Result,
  Tool,
  ToolAnnotations,
} from '../../protocol/types.ts'
import { isObject } from '../../protocol/validate.ts'
import { serverFacts } from '../../protocol/server-facts.ts'
import type { Context } from '../request/context.ts'
import type { HandlerContext } from '../request/base-request-context.ts'
import type { Viewer } from '../request/exchange.ts'
import { invalidParams, readNameAndArguments } from '../request/params.ts'
import {
  COMMON_OPTIONS,
  requireHandler,
  type Entry,
  type Registration,
  type Registry,
} from '../registry.ts'
import { toolError } from './results.ts'
import { toResult, type ToolReturn } from './tool-result.ts'
import type { TaskSupport, ToolTask } from './tool-task.ts'

/** How a tool is described and checked. */
export interface ToolOptions<
  Input extends StandardSchema = StandardSchema,
  Output extends StandardSchema = StandardSchema,
> {
  /** What people see (since 2025-06-18). */
  title?: string
  /** What the model reads. */
  description?: string
  /** Checks the arguments; an object schema. Without it the tool takes none, and ignores any. */
  input?: Input
  /**
   * Checks `structuredContent` (since 2025-06-18). A tool that returns content alone then tells of a
   * failure: the spec wants every other result to be structured.
   */
  output?: Output
  annotations?: ToolAnnotations
  icons?: Icon[]
  /** The tool's `_meta`. */
  meta?: Meta
  /** Whether a caller may see and call the tool; everybody by default. */
  visible?: (viewer: Viewer) => boolean
  /**
   * The scopes that a call needs beside those that the server needs anyway. Checked where the server
   * is protected (`edgewise/protected-resource`): the client is told what to ask the user for.
   */
  scopes?: readonly string[]
  /**
   * Whether the tool can be carried out as a task, or must be; `forbidden` by default. It matters
   * only on servers that serve tasks (`edgewise/tasks`).
   */
  task?: TaskSupport | ToolTask<Input>
}

/** Runs a tool with arguments that its schema accepted. */
export type ToolHandler<
  Input extends StandardSchema,
  Output extends StandardSchema,
  Env = unknown,
  Ctx = Context<Env>,
> = (
  args: InferOutput<Input>,
  ctx: Ctx,
) => ToolReturn<InferInput<Output>> | Promise<ToolReturn<InferInput<Output>>>

/**
 * The same, written so that the compiler knows the output when it looks at what a handler returns:
 * where the schema wants `'a' | 'b'`, a returned `'a'` keeps that type and is not widened to `string`.
 */
export type ToolHandlerFor<
  Input extends StandardSchema,
  Output extends StandardSchema,
  Env = unknown,
  Ctx = Context<Env>,
> = [Output] extends [StandardSchema] ? ToolHandler<Input, Output, Env, Ctx> : never

/** Changes a tool later. */
export interface ToolRegistration<Env = unknown, Ctx = Context<Env>> extends Registration {
  /** Describes and runs the tool in another way, under the same name. */
  update<Input extends StandardSchema, Output extends StandardSchema>(
    options: ToolOptions<Input, Output>,
    handler: ToolHandlerFor<Input, Output, Env, Ctx>,
  ): void
}

/** A registered tool. */
export interface ToolEntry extends Entry {
  readonly item: Tool
  readonly input: StandardSchema | undefined
  readonly output: StandardSchema | undefined
  readonly task?: TaskSupport | ToolTask | undefined
  /** Whether the tool is another server's, which carries it out. */
  readonly mirrored?: true
  /** The arguments that HTTP headers repeat. */
  readonly headerParams: readonly HeaderParam[]
  readonly run: (args: unknown, ctx: Context) => ToolReturn | Promise<ToolReturn>
}

/** The tools of a server, and who learns of failures whose detail the model does not get. */
export interface Tools {
  readonly tools: Registry<ToolEntry>
  report(error: unknown, ctx: HandlerContext): void
  readonly tasks?: TaskFactory | undefined
}

/** Makes tasks of calls. */
export interface TaskFactory {
  /**
   * Makes a task of a call, if it is to be one; gives the result that tells the client so.
   *
   * @param args The arguments, as the tool's schema gave them.
   */
  defer(
    entry: ToolEntry,
    args: unknown,
    params: JsonObject,
    ctx: HandlerContext,
  ): Promise<Result | undefined>
}

const OPTIONS = {
  ...COMMON_OPTIONS,
  ...{ input: 1, output: 1, annotations: 1, scopes: 1, task: 1 },
} satisfies OptionNames<ToolOptions>

const NO_ARGUMENTS: ObjectSchema = { type: 'object', additionalProperties: false }

/**
 * Makes an entry of a tool; its JSON Schemas are computed here, once.
 *
 * @throws {TypeError} when the input is no object schema, or annotates headers wrongly.
 * @throws {RangeError} when a time of its tasks is no whole number of milliseconds above 0.
 */
export function toolEntry<Input extends StandardSchema, Output extends StandardSchema>(
  name: string,
  options: ToolOptions<Input, Output>,
  handler: ToolHandler<Input, Output>,
): ToolEntry {
  requireKnown(`The tool "${name}"`, options, OPTIONS)
  const { input, output, meta, visible, scopes, task, ...described } = options
  const inputSchema = input ? jsonSchemaOf(input, `The input of the tool "${name}"`) : NO_ARGUMENTS
  if (!takesObjects(inputSchema)) {
    throw new TypeError(`The input of the tool "${name}" must be an object schema`)
  }
  const { params: headerParams, fault } = findHeaderParams(inputSchema)
  if (fault !== undefined)
    throw new TypeError(`The input of the tool "${name}" is invalid: ${fault}`)
  // A union of objects has no type of its own, and every schema here needs one
  const item: Tool = { name, ...described, inputSchema: { ...inputSchema, type: 'object' } }
  if (output) {
    const what = `The output of the tool "${name}"`
    item.outputSchema = jsonSchemaOf(output, what, 'output')
  }
  if (meta) item._meta = meta
  if (task) item.execution = { taskSupport: typeof task === 'string' ? task : task.support }
  for (const ms of typeof task === 'object' ? [task.ttlMs ?? 1, task.pollIntervalMs ?? 1] : []) {
    if (!Number.isSafeInteger(ms) || ms <= 0)
      throw new RangeError(`The task of the tool "${name}" cannot have the time "${ms}"`)
  }
  const run = requireHandler(handler, `The tool "${name}"`)
  return { enabled: true, visible, scopes, item, input, output, task, headerParams, run }
}

/** Whether a schema is for objects, or for a union of which some are. */
function takesObjects(schema: unknown): schema is JsonObject {
  if (!isObject(schema)) return false
  const { type, anyOf, oneOf, allOf } = schema
  if (type !== undefined) return type === 'object'
  const branches = anyOf ?? oneOf ?? allOf
  return '$ref' in schema || (Array.isArray(branches) && branches.some(takesObjects))
}

/**
 * Runs one tool.
 *
 * Tool failures are results with `isError`, so that the model can read them and correct itself;
 * so are bad arguments, from 2025-11-25 on (server/tools, error handling).
 *
 * @param found The tool, where it was looked up already.
 * @throws {ProtocolError} `INVALID_PARAMS` when no tool has that name, or the request is malformed.
 */
export async function callTool(
  server: Tools,
  params: JsonObject,
  ctx: HandlerContext,
  found?: ToolEntry,
): Promise<Result> {
  const { name, args } = readNameAndArguments(params)
  const tool = found ?? server.tools.require(name, ctx)

  // Some hosts make up an argument for a tool that takes none
  const checked = tool.input ? tool.input['~standard'].validate(args) : { value: {} }
  const input = checked instanceof Promise ? await checked : checked
  if (input.issues) {
    const message = `Invalid arguments for the tool "${name}": ${describeIssues(input.issues)}`
    if (serverFacts(ctx.exchange.revision).argumentErrorsAsResult) return toolError(message)
    throw invalidParams(message)
  }

  let returned: ToolReturn
  try {
    const task = server.tasks && (await server.tasks.defer(tool, input.value, params, ctx))
    if (task) return task
    returned = await tool.run(input.value, ctx)
  } catch (error) {
    // Whoever throws one means the client to get it
    if (error instanceof ProtocolError) throw error
    if (error instanceof ToolError) return toolError(error.message)
    return toolError(ctx.describeFailure(error, () => server.report(error, ctx)))
  }
  return toResult(returned, tool)
}
