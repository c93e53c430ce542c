/**
 * Tools: functions that a model can call.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools
 */
import { andThen, whenSettled, type Awaitable } from '../../patterns/awaitable.ts'
import { ProtocolError, ToolError } from '../../protocol/errors.ts'
import type { HeaderParam } from '../../protocol/header-params.ts'
import { requireKnown, type OptionNames } from '../../patterns/known-options.ts'
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
  JsonObject,
} from '../../protocol/types.ts'
import { isObject } from '../../protocol/validate.ts'
import { ARGUMENT_ERROR_RESULTS, supports } from '../../protocol/revision-features.ts'
import type { Context } from '../request/context.ts'
import type { InternalContext } from '../request/base-request-context.ts'
import type { Viewer } from '../request/exchange.ts'
import { invalidParams, readNameAndArguments } from '../request/params.ts'
import {
  COMMON_OPTIONS,
  requireHandler,
  type Entry,
  type Registration,
  type Registry,
} from '../registry.ts'
import type { HeaderParamSupport } from './header-params.ts'
import { toolError } from './results.ts'
import { toResult, type ToolReturn } from './tool-result.ts'
import type { TaskSupport, ToolTask } from './tool-task.ts'

/**
 * Metadata of a tool, and the schemas of its arguments and output.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools
 */
export interface ToolOptions<
  Input extends StandardSchema = StandardSchema,
  Output extends StandardSchema = StandardSchema,
> {
  /** The display name (since 2025-06-18). */
  title?: string
  /** The description for the model. */
  description?: string
  /**
   * Validates the arguments; an object schema. Without it the tool has no arguments and ignores any
   * that are sent.
   */
  input?: Input
  /**
   * Validates `structuredContent` (since 2025-06-18). If a tool with an output schema returns only
   * content, the result is a failure: the specification requires all other results to be
   * structured.
   */
  output?: Output
  /** Hints about what the tool does, such as `readOnlyHint` (since 2025-03-26). */
  annotations?: ToolAnnotations
  /** The icons to show (since 2025-11-25). */
  icons?: Icon[]
  /** The tool's `_meta`. */
  meta?: Meta
  /** Whether a caller may list and call the tool. By default every caller may. */
  visible?: (viewer: Viewer) => boolean
  /**
   * Scopes that a call needs in addition to the server's scopes. Checked if the server is protected
   * (`edgewise/protected-resource`): the error names the scopes that the client must request.
   */
  scopes?: readonly string[]
  /**
   * Whether the tool can or must run as a task. Only used on servers that support tasks
   * (`edgewise/tasks`).
   *
   * @default 'forbidden'
   */
  task?: TaskSupport | ToolTask<Input>
}

/** Runs a tool with validated arguments. */
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
 * `ToolHandler`, written so that the compiler knows the output type when it checks the return
 * value: if the schema expects `'a' | 'b'`, a returned `'a'` keeps its literal type instead of
 * being widened to `string`.
 */
export type ToolHandlerFor<
  Input extends StandardSchema,
  Output extends StandardSchema,
  Env = unknown,
  Ctx = Context<Env>,
> = [Output] extends [StandardSchema] ? ToolHandler<Input, Output, Env, Ctx> : never

/** Updates or removes a registered tool. */
export interface ToolRegistration<Env = unknown, Ctx = Context<Env>> extends Registration {
  /** Replaces the tool's options and handler, under the same name. */
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
  /** Whether another server, which is mounted in this server, runs the tool. */
  readonly mirrored?: true
  /** The arguments that are repeated in HTTP headers. */
  readonly headerParams: readonly HeaderParam[]
  readonly run: (args: unknown, ctx: Context) => ToolReturn | Promise<ToolReturn>
}

/** What {@link callTool} needs from a server. */
export interface Tools {
  readonly tools: Registry<ToolEntry>
  /** Receives errors whose details are hidden from the model. */
  report(error: unknown, ctx: InternalContext): void
  readonly tasks?: TaskFactory | undefined
}

/** Turns calls into tasks. */
export interface TaskFactory {
  /**
   * Creates a task if the call should run as one. Returns the result that describes the task;
   * `undefined` if the call runs without a task.
   *
   * @param args The arguments, as output by the tool's schema.
   */
  defer(
    entry: ToolEntry,
    args: unknown,
    params: JsonObject,
    ctx: InternalContext,
  ): Promise<Result | undefined>
}

const OPTION_NAMES = {
  ...COMMON_OPTIONS,
  input: 1,
  output: 1,
  annotations: 1,
  scopes: 1,
  task: 1,
} satisfies OptionNames<ToolOptions>

const NO_ARGUMENTS: ObjectSchema = { type: 'object', additionalProperties: false }

/**
 * Creates a tool's entry; its JSON Schemas are computed here, once.
 *
 * @throws {TypeError} If the input is not an object schema, or its header annotations are invalid or not
 * supported by the server.
 * @throws {RangeError} If a duration of its task options is not a positive integer.
 */
export function toolEntry<Input extends StandardSchema, Output extends StandardSchema>(
  server: { readonly headerParams: HeaderParamSupport },
  name: string,
  options: ToolOptions<Input, Output>,
  handler: ToolHandler<Input, Output>,
): ToolEntry {
  requireKnown(`The tool "${name}"`, options, OPTION_NAMES)
  const { input, output, meta, visible, scopes, task, ...metadata } = options
  const label = `The input of the tool "${name}"`
  const inputSchema = input ? jsonSchemaOf(input, label) : NO_ARGUMENTS
  if (!acceptsObjects(inputSchema)) throw new TypeError(`${label} must be an object schema`)
  const headerParams = server.headerParams.find(inputSchema, label)
  // A union of object schemas has no top-level `type`, which the protocol requires
  const item: Tool = { name, ...metadata, inputSchema: { ...inputSchema, type: 'object' } }
  if (output) {
    item.outputSchema = jsonSchemaOf(output, `The output of the tool "${name}"`, 'output')
  }
  if (meta) item._meta = meta
  if (task) item.execution = { taskSupport: typeof task === 'string' ? task : task.support }
  if (typeof task === 'object') requireDurations(task, name)
  const run = requireHandler(handler, `The tool "${name}"`)
  return { enabled: true, visible, scopes, item, input, output, task, headerParams, run }
}

function requireDurations({ ttlMs = 1, pollIntervalMs = 1 }: ToolTask, name: string): void {
  for (const ms of [ttlMs, pollIntervalMs]) {
    if (!Number.isSafeInteger(ms) || ms <= 0)
      throw new RangeError(`The task of the tool "${name}" has an invalid duration: "${ms}"`)
  }
}

/** Whether a schema accepts objects, or is a union in which at least one member does. */
function acceptsObjects(schema: unknown): schema is JsonObject {
  if (!isObject(schema)) return false
  const { type, anyOf, oneOf, allOf } = schema
  if (type !== undefined) return type === 'object'
  const branches = anyOf ?? oneOf ?? allOf
  return '$ref' in schema || (Array.isArray(branches) && branches.some(acceptsObjects))
}

/**
 * Runs one tool.
 *
 * Tool failures are results with `isError`, so that the model can read them and correct itself.
 * Since 2025-11-25, this includes invalid arguments (server/tools, error handling).
 *
 * @param found The tool, if it was already looked up.
 * @throws {ProtocolError} `INVALID_PARAMS` if no tool has that name, or the request is malformed.
 */
export function callTool(
  server: Tools,
  params: JsonObject,
  ctx: InternalContext,
  found?: ToolEntry,
): Awaitable<Result> {
  const { name, args } = readNameAndArguments(params)
  const tool = found ?? server.tools.require(name, ctx)

  // A tool without `input` ignores arguments, because some hosts invent arguments
  const validation = tool.input ? tool.input['~standard'].validate(args) : { value: {} }
  return andThen(validation, (input) => {
    if (input.issues) {
      const message = `Invalid arguments for the tool "${name}": ${describeIssues(input.issues)}`
      if (supports(ctx.exchange.revision, ARGUMENT_ERROR_RESULTS)) return toolError(message)
      throw invalidParams(message)
    }
    const recover = (error: unknown): Result => {
      // A handler that throws a ProtocolError intends it for the client
      if (error instanceof ProtocolError) throw error
      return toolError(
        error instanceof ToolError
          ? error.message
          : ctx.handleFailure(error, () => server.report(error, ctx)),
      )
    }
    return andThen(
      server.tasks?.defer(tool, input.value, params, ctx),
      (task) =>
        task ??
        whenSettled(
          () => tool.run(input.value, ctx),
          (returned) => toResult(returned, tool),
          recover,
        ),
      recover,
    )
  })
}
