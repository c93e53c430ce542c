/**
 * A client's tools as plain functions with JSON Schema, which is what agent libraries and model APIs
 * take in some form.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools
 */
import type { BaseClient } from '../client/base-client.ts'
import type { RequestOptions } from '../client/request-options.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { CallToolResult, ObjectSchema, Tool } from '../protocol/types.ts'
import { MIN_NAME_LENGTH, modelNames } from './names.ts'
import { modelParameters } from './parameters.ts'

/** One tool of a server, ready to be called. */
export interface ToolFunction {
  /**
   * The tool's name as every model API takes it: of `a-z`, `A-Z`, `0-9`, `_` and `-`, and with a
   * letter or `_` in front.
   */
  readonly name: string
  /** What the tool does, or its title where it says no more; untrusted unless the server is trusted. */
  readonly description: string | undefined
  /**
   * JSON Schema of the arguments, in the form that every large model API takes; a copy, which may be
   * changed. Objects have `properties` and arrays `items`, nothing is combined at the root (its
   * alternatives are optional properties), and properties have names of at most 64 characters of
   * `a-z`, `A-Z`, `0-9`, `_`, `.` and `-`. The tool's own schema is `tool.inputSchema`.
   */
  readonly parameters: ObjectSchema
  /** The tool as the server lists it. */
  readonly tool: Tool
  /**
   * Runs the tool. A failure inside it is a result with `isError`.
   *
   * @param args As `parameters` describes them; the tool gets them under its own names.
   *
   * @throws {ProtocolError | McpError} as `client.callTool`.
   */
  call(args: JsonObject | undefined, options?: RequestOptions): Promise<CallToolResult>
}

/** Which tools are taken, and under which names. */
export interface ToolsetOptions {
  /** Comes before every name; tells the tools of several servers apart. Default: nothing. */
  readonly prefix?: string | undefined
  /** Which tools are taken; all by default. */
  readonly include?: ((tool: Tool) => boolean) | undefined
  /** The longest name, in characters; 64 by default, as most model APIs have it, and at least 8. */
  readonly maxNameLength?: number | undefined
  /** How every tool is called: timeouts, `meta`, a signal for all. */
  readonly request?: RequestOptions | undefined
}

/**
 * Lists a server's tools as functions, in the server's order. Do it again when
 * `onToolsChanged` says that the list has changed.
 *
 * A name that a model API would not take is written with `_` in place of what it would not, or in
 * front, and cut to its length. Where that is the name of another tool as well, it ends in a digest
 * of the tool's own. Other names stay as they are, and the order of the list decides nothing.
 *
 * @throws {ProtocolError | McpError} as `client.tools()`.
 * @throws {RangeError} if `maxNameLength` is less than 8.
 */
export async function toolFunctions(
  client: BaseClient,
  { prefix = '', include = () => true, maxNameLength = 64, request }: ToolsetOptions = {},
): Promise<ToolFunction[]> {
  if (!(maxNameLength >= MIN_NAME_LENGTH)) {
    throw new RangeError(`"maxNameLength" must be at least ${MIN_NAME_LENGTH}`)
  }
  const tools = new Map<string, Tool>()
  for await (const tool of client.tools(request)) {
    if (include(tool)) tools.set(prefix + tool.name, tool)
  }
  const names = await modelNames(tools.keys(), cleanName, maxNameLength)
  return await Promise.all(
    [...tools].map(async ([named, tool]): Promise<ToolFunction> => {
      const { schema, restore } = await modelParameters(tool.inputSchema)
      return {
        name: names.get(named) ?? named,
        description: tool.description ?? tool.title,
        parameters: schema,
        tool,
        call: (args, options) =>
          client.callTool(tool.name, args && restore(args), joined(request, options)),
      }
    }),
  )
}

/** A name in the alphabet of every model API. */
function cleanName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_').replace(/^(?![A-Za-z_])/, '_')
}

/** Both sets of options; either signal aborts. */
function joined(
  always: RequestOptions | undefined,
  now: RequestOptions | undefined,
): RequestOptions | undefined {
  if (!always || !now) return now ?? always
  const signals = [always.signal, now.signal].filter((signal) => signal !== undefined)
  return { ...always, ...now, signal: signals.length > 1 ? AbortSignal.any(signals) : signals[0] }
}
