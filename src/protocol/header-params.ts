/**
 * Tool arguments that HTTP headers repeat, so that intermediaries can route by them: the `x-mcp-header`
 * annotations of a tool's input schema.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#custom-headers-from-tool-parameters
 */
import { SdkError } from './errors.ts'
import { encodeHeaderValue, HEADER_PARAM_PREFIX } from './headers.ts'
import type { JsonObject } from './types.ts'
import { isObject, memberAt } from './validate.ts'

/** One argument that a header repeats. */
export interface HeaderParam {
  /** The header's name in lower case, such as `mcp-param-region`. */
  readonly header: string
  /** The property names that lead from the root of the arguments to this argument. */
  readonly path: readonly string[]
  /** The type of the argument. */
  readonly type: 'string' | 'integer' | 'boolean'
}

/** The header annotations of a schema. */
export interface HeaderParams {
  /** Empty if the annotations are invalid. */
  readonly params: readonly HeaderParam[]
  /**
   * Why the annotations are invalid. A client then hides the tool, and a server refuses to register
   * it.
   */
  readonly fault?: string
}

const ANNOTATION = 'x-mcp-header'
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
/** The maximum depth to which a schema is searched. */
const MAX_DEPTH = 64

/** Keywords whose values are data: a member named `x-mcp-header` in them is not an annotation. */
const DATA_KEYWORDS = ['const', 'default', 'enum', 'examples']

/**
 * Finds the annotated arguments of a tool. Annotations are valid on strings, integers and booleans
 * (optionally `null`) that are reached through `properties` alone, with names that are HTTP tokens and
 * unique regardless of case.
 */
export function findHeaderParams(inputSchema: JsonObject): HeaderParams {
  const params: HeaderParam[] = []
  const fault = collectAnnotations(inputSchema, [], params)
  return fault === undefined ? { params } : { params: [], fault }
}

/** The path of a value that is not reached through `properties` alone. */
const NO_PATH = undefined
/** Says that a value is the map of `properties`. */
const IS_PROPERTIES = true

/**
 * Collects the annotations in a schema, or in a list or map of schemas. Returns the first fault.
 *
 * @param path The path of the value; {@link NO_PATH} if the value is not reached through `properties` alone.
 * @param isProperties Whether the value is the map of `properties`.
 */
function collectAnnotations(
  value: unknown,
  path: readonly string[] | undefined,
  params: HeaderParam[],
  depth = 0,
  isProperties = false,
): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (depth > MAX_DEPTH) return 'The schema is too deep'
  for (const [name, member] of Object.entries(value)) {
    let fault: string | undefined
    if (isProperties) {
      fault = collectAnnotations(member, path && [...path, name], params, depth + 1)
    } else if (name === ANNOTATION) {
      fault = addAnnotation(value as JsonObject, path, params)
    } else if (name === 'properties' && isObject(member)) {
      fault = collectAnnotations(member, path, params, depth, IS_PROPERTIES)
    } else if (!DATA_KEYWORDS.includes(name)) {
      fault = collectAnnotations(member, NO_PATH, params, depth + 1)
    }
    if (fault) return fault
  }
  return undefined
}

/** Adds an annotated argument to `params`. If the annotation is invalid, returns the fault instead. */
function addAnnotation(
  schema: JsonObject,
  path: readonly string[] | undefined,
  params: HeaderParam[],
): string | undefined {
  const name = schema[ANNOTATION]
  const type = primitiveType(schema.type)
  const header = HEADER_PARAM_PREFIX + String(name).toLowerCase()
  let fault: string | undefined
  if (typeof name !== 'string' || !TOKEN.test(name)) fault = 'is not an HTTP token'
  else if (!path) fault = 'is not under "properties" alone'
  else if (!type) fault = 'is not on a string, integer or boolean'
  else if (params.some((other) => other.header === header)) fault = 'is used twice'
  else params.push({ header, path, type })
  return fault && `"${ANNOTATION}": ${JSON.stringify(name)} ${fault}`
}

/** The type that an argument can have in a header, apart from `null`. */
function primitiveType(type: unknown): HeaderParam['type'] | undefined {
  const types = Array.isArray(type) ? type.filter((name) => name !== 'null') : [type]
  const [singleType] = types
  if (types.length !== 1) return undefined
  return singleType === 'string' || singleType === 'integer' || singleType === 'boolean'
    ? singleType
    : undefined
}

/**
 * The headers that repeat the arguments of one call. Absent and `null` arguments have no header.
 *
 * @throws {SdkError} `INVALID_USE` if a number is not an integer that JSON represents exactly.
 */
export function encodeHeaderParams(
  params: readonly HeaderParam[],
  args: JsonObject,
): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const { header, path } of params) {
    const value = memberAt(args, path)
    if (typeof value === 'number' && !Number.isSafeInteger(value)) {
      const name = path.join('.')
      throw new SdkError('INVALID_USE', `Argument "${name}" is not a safe integer`)
    }
    if (typeof value === 'string') headers[header] = encodeHeaderValue(value)
    if (typeof value === 'number' || typeof value === 'boolean') headers[header] = String(value)
  }
  return headers
}
