/**
 * A client's tools as plain functions with JSON Schema, which is what agent libraries and model APIs
 * take in some form.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools
 */
import type { LeanClient, RequestOptions } from '../client/index.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { CallToolResult, ObjectSchema, Tool } from '../protocol/types.ts'

/** One tool of a server, ready to be called. */
export interface ToolFunction {
  /**
   * The tool's name as every model API takes it: of `a-z`, `A-Z`, `0-9`, `_` and `-`, and with a
   * letter or `_` in front.
   */
  readonly name: string
  /** What the tool does, or its title where it says no more; untrusted unless the server is trusted. */
  readonly description: string | undefined
  /** JSON Schema of the arguments; a copy, which may be changed. */
  readonly parameters: ObjectSchema
  /** The tool as the server lists it. */
  readonly tool: Tool
  /**
   * Runs the tool. A failure inside it is a result with `isError`.
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
  /** The longest name, in characters; 64 by default, as most model APIs have it. */
  readonly maxNameLength?: number | undefined
  /** How every tool is called: timeouts, `meta`, a signal for all. */
  readonly request?: RequestOptions | undefined
}

/**
 * Lists a server's tools as functions, in the server's order. Do it again when
 * `onToolsChanged` says that the list has changed.
 *
 * A name that a model API would not take is written with `_` in place of what it would not, or in
 * front, cut to its length, and numbered where two names became one.
 *
 * @throws {ProtocolError | McpError} as `client.tools()`.
 */
export async function toolFunctions(
  client: LeanClient,
  { prefix = '', include = () => true, maxNameLength = 64, request }: ToolsetOptions = {},
): Promise<ToolFunction[]> {
  const functions: ToolFunction[] = []
  const taken = new Set<string>()
  for await (const tool of client.tools(request)) {
    if (!include(tool)) continue
    functions.push({
      name: freeName(`${prefix}${tool.name}`, taken, maxNameLength),
      description: tool.description ?? tool.title,
      parameters: structuredClone(tool.inputSchema),
      tool,
      call: (args, options) => client.callTool(tool.name, args, joined(request, options)),
    })
  }
  return functions
}

function freeName(wanted: string, taken: Set<string>, maxLength: number): string {
  const plain = wanted
    .replace(/[^A-Za-z0-9_-]/g, '_')
    .replace(/^(?![A-Za-z_])/, '_')
    .slice(0, maxLength)
  let name = plain
  for (let n = 2; taken.has(name); n++) {
    const ending = `_${n}`
    name = plain.slice(0, maxLength - ending.length) + ending
  }
  taken.add(name)
  return name
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
