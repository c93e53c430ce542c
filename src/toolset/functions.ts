/**
 * The tools of a server as plain functions whose parameters are described by JSON Schema. Most agent
 * libraries and model APIs accept this format.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools
 */
import type { BaseClient } from '../client/base-client.ts'
import type { RequestOptions } from '../client/request-options.ts'
import { requireKnown, type OptionNames } from '../patterns/known-options.ts'
import type { CallToolResult, ObjectSchema, Tool, JsonObject } from '../protocol/types.ts'
import { MIN_NAME_LENGTH, createModelNames } from './names.ts'
import { createModelParameters } from './parameters.ts'

/** One tool of a server, ready to call. */
export interface ToolFunction {
  /**
   * The tool's name in a form that every model API accepts: `a-z`, `A-Z`, `0-9`, `_` and `-`,
   * starting with a letter or `_`.
   */
  readonly name: string
  /** The tool's description, or its title if it has no description. Trust it only if you trust the server. */
  readonly description: string | undefined
  /**
   * The JSON Schema of the arguments, in a form that every large model API accepts. You may change this
   * copy; the tool's own schema is `tool.inputSchema`. Every object schema has `properties`, and every
   * array schema has `items`. The root has no combinators: its alternatives become optional properties.
   * The names of properties have at most 64 characters, which are `a-z`, `A-Z`, `0-9`, `_`, `.` or `-`.
   */
  readonly parameters: ObjectSchema
  /** The tool as the server lists it. */
  readonly tool: Tool
  /**
   * Calls the tool. A tool error is a result with `isError`.
   *
   * @param args The arguments, with the names in `parameters`. The tool receives the arguments with the names in
   *   its own schema, which may differ.
   * @throws {ProtocolError | SdkError} See `client.callTool`.
   */
  call(args: JsonObject | undefined, options?: RequestOptions): Promise<CallToolResult>
}

/** Which tools to include, and how to name them. */
export interface ToolsetOptions {
  /**
   * The prefix of every name. Prefixes distinguish the tools of several servers.
   *
   * @default ''
   */
  readonly prefix?: string | undefined
  /** Which tools to include. By default all tools are included. */
  readonly include?: ((tool: Tool) => boolean) | undefined
  /**
   * The maximum length of a name, in characters; at least 8. The default is the limit of most model APIs.
   *
   * @default 64
   */
  readonly maxNameLength?: number | undefined
  /** The options of every call, such as timeouts, `meta` and a shared signal. */
  readonly request?: RequestOptions | undefined
}

const OPTION_NAMES: OptionNames<ToolsetOptions> = {
  prefix: 1,
  include: 1,
  maxNameLength: 1,
  request: 1,
}

/**
 * Lists a server's tools as functions, in the server's order. List them again when `onToolsChanged`
 * is called.
 *
 * Names that a model API would reject are changed: invalid characters become `_`, a `_` is added in
 * front if needed, and long names are truncated. If another tool has the resulting name, a digest of
 * the tool's original name is appended. All other names stay unchanged. Names do not depend on the
 * order of the list.
 *
 * @example
 * ```ts
 * import { connect } from 'edgewise/client'
 * import { toolFunctions } from 'edgewise/toolset'
 *
 * await using client = await connect('https://example.com/mcp')
 * const functions = await toolFunctions(client, { prefix: 'travel_' })
 * for (const { name, description, parameters } of functions) {
 *   console.log(name, description, parameters) // What the model sees
 * }
 * ```
 *
 * @throws {ProtocolError | SdkError} The errors of `client.tools()`.
 * @throws {RangeError} If `maxNameLength` is less than 8.
 * @throws {TypeError} If an option is unknown.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools
 */
export async function toolFunctions(
  client: BaseClient,
  options: ToolsetOptions = {},
): Promise<ToolFunction[]> {
  // If the option `include` is misspelt, all tools would be included
  requireKnown('The toolset', options, OPTION_NAMES)
  const { prefix = '', include = () => true, maxNameLength = 64, request } = options
  const isLongEnough = maxNameLength >= MIN_NAME_LENGTH
  if (!isLongEnough) {
    throw new RangeError(`"maxNameLength" must be at least ${MIN_NAME_LENGTH}`)
  }
  const tools = new Map<string, Tool>()
  for await (const tool of client.tools(request)) {
    if (include(tool)) tools.set(prefix + tool.name, tool)
  }
  const names = await createModelNames(tools.keys(), cleanName, maxNameLength)
  return await Promise.all(
    [...tools].map(async ([prefixedName, tool]): Promise<ToolFunction> => {
      const { schema, restore } = await createModelParameters(tool.inputSchema)
      return {
        name: names.get(prefixedName) ?? prefixedName,
        description: tool.description ?? tool.title,
        parameters: schema,
        tool,
        call: (args, callOptions) =>
          client.callTool(tool.name, args && restore(args), mergeOptions(request, callOptions)),
      }
    }),
  )
}

/** A name restricted to the characters that every model API accepts. */
function cleanName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_').replace(/^(?![A-Za-z_])/, '_')
}

/** Merges the options of every call with the options of one call. The call is aborted when either signal aborts. */
function mergeOptions(
  shared: RequestOptions | undefined,
  callOptions: RequestOptions | undefined,
): RequestOptions | undefined {
  if (!shared || !callOptions) return callOptions ?? shared
  const signals = [shared.signal, callOptions.signal].filter((signal) => signal !== undefined)
  const signal = signals.length > 1 ? AbortSignal.any(signals) : signals[0]
  return { ...shared, ...callOptions, signal }
}
