/**
 * Resources: data that a client can read, by URI or by URI template.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/resources
 */
import { isResourceContents } from '../../protocol/content.ts'
import { ProtocolError } from '../../protocol/errors.ts'
import type {
  Annotations,
  CacheHints,
  Icon,
  InputRequiredResult,
  Meta,
  ReadResourceResult,
  Resource,
  ResourceContents,
  ResourceTemplate,
  Result,
  JsonObject,
} from '../../protocol/types.ts'
import { serverFacts } from '../../protocol/server-facts.ts'
import { requireHints } from './caching.ts'
import type { Completers } from './completion.ts'
import type { Context } from '../request/context.ts'
import type { InternalContext } from '../request/base-request-context.ts'
import type { Requester, Viewer } from '../request/exchange.ts'
import { invalidParams, requireString } from '../request/params.ts'
import {
  COMMON_OPTIONS,
  requireHandler,
  type Entry,
  type Registration,
  type Registry,
} from '../registry.ts'
import { base64, requireAnnotations } from './results.ts'
import { requireKnown, type OptionNames } from '../../patterns/known-options.ts'
import type { UriTemplate } from './uri-template.ts'
import { parseUrl } from '../../patterns/url.ts'

/**
 * Metadata of a resource.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/resources
 */
export interface ResourceOptions {
  /** The programmatic identifier. */
  name: string
  /** The display name (since 2025-06-18). */
  title?: string
  /** The description for models and users. */
  description?: string
  /** The MIME type of the contents, such as `text/plain`. */
  mimeType?: string
  /** The size of the contents in bytes, before Base64 encoding. */
  size?: number
  /** The audience, priority and date of the contents. */
  annotations?: Annotations
  /** The icons to show (since 2025-11-25). */
  icons?: Icon[]
  /** The resource's `_meta`. */
  meta?: Meta
  /** How long, and by whom, the contents may be cached (since 2026-07-28). */
  cache?: CacheHints
  /** Whether a caller may list and read the resource. By default every caller may. */
  visible?: (viewer: Viewer) => boolean
}

/**
 * Metadata of a resource template.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/resources#resource-templates
 */
export interface ResourceTemplateOptions<Env = unknown> extends Omit<ResourceOptions, 'size'> {
  /** Completers, keyed by variable name. */
  complete?: Completers<Env>
}

/** The URI to read, and the values of the template's variables. */
export interface ReadRequest {
  uri: string
  /**
   * The decoded values, by name. Query variables that the URI lacks are absent; a resource without
   * a template has no variables.
   */
  variables: { readonly [name: string]: string | string[] | undefined }
}

/**
 * What a {@link ReadHandler} may return: text, bytes, a complete result, or input requests. `undefined`, or a
 * result with empty `contents`, means that the resource does not exist.
 */
export type ReadReturn = string | Uint8Array | ReadResourceResult | InputRequiredResult | undefined

/** Reads a resource. */
export type ReadHandler<Env = unknown> = (
  request: ReadRequest,
  ctx: Context<Env>,
) => ReadReturn | Promise<ReadReturn>

/** Updates or removes a registered resource or resource template. */
export interface ResourceRegistration<Options, Env = unknown> extends Registration {
  /** Replaces the options and the handler, under the same URI or template. */
  update(options: Options, read: ReadHandler<Env>): void
}

/** A registered resource. */
export interface ResourceEntry extends Entry {
  readonly item: Resource
  readonly cache: CacheHints | undefined
  readonly read: ReadHandler
}

/** A registered resource template. */
export interface ResourceTemplateEntry extends Entry {
  readonly item: ResourceTemplate
  readonly template: UriTemplate
  readonly complete: Completers | undefined
  readonly cache: CacheHints | undefined
  readonly read: ReadHandler
}

/** A URI scheme (RFC 3986, section 3.1), followed by characters that a URI may contain. */
const SCHEME = /^[a-z][a-z\d+.-]*:[^\s\\^`{|}<>"]*$/i
/** Path traversal: `..` segments, and characters that could hide them from checks. */
const TRAVERSAL = /(?:^|[/\\])\.\.(?:[/\\]|$)|[\\\0]/

/** The resources and resource templates of a server. */
export interface Resources {
  readonly resources: Registry<ResourceEntry>
  readonly resourceTemplates: Registry<ResourceTemplateEntry>
}

/** The entry for a URI, and the values of its template's variables. */
interface FoundResource {
  readonly entry: ResourceEntry | ResourceTemplateEntry
  readonly variables: ReadRequest['variables']
}

/** The names of the options that only resources and templates have. The values have no meaning. */
export const RESOURCE_OPTIONS = {
  name: 1,
  mimeType: 1,
  annotations: 1,
  cache: 1,
} as const

/**
 * Creates the entry of a resource.
 *
 * @throws {TypeError} If the URI or the cache hints are invalid.
 */
export function resourceEntry(
  uri: string,
  options: ResourceOptions,
  read: ReadHandler,
): ResourceEntry {
  if (uri.includes('{')) throw new TypeError(`"${uri}" is a template: use resourceTemplate`)
  if (!SCHEME.test(uri)) throw new TypeError(`"${uri}" is not a URI: it must begin with a scheme`)
  const optionNames: OptionNames<ResourceOptions> = {
    ...COMMON_OPTIONS,
    ...RESOURCE_OPTIONS,
    size: 1,
  }
  requireKnown(`The resource "${uri}"`, options, optionNames)
  return entryOf({ uri }, options, read)
}

/** Creates the part of an entry that resources and resource templates share. */
export function entryOf<Location extends object>(
  location: Location,
  { meta, cache, visible, ...metadata }: ResourceOptions,
  read: ReadHandler,
): Omit<ResourceEntry, 'item'> & { readonly item: Location & Omit<Resource, 'uri'> } {
  requireAnnotations(metadata.annotations)
  const item = { ...location, ...metadata, ...(meta && { _meta: meta }) }
  requireHandler(read, `The resource "${metadata.name}"`)
  return { enabled: true, visible, item, cache: requireHints(cache), read }
}

/**
 * Answers `resources/read`.
 *
 * @throws {ProtocolError} "Resource not found" if no resource or template matches the URI, or its
 * `read` returns nothing. The code is -32002 before 2026-07-28, and `INVALID_PARAMS` since then.
 * `data.uri` repeats the URI.
 */
export async function readResource(
  registered: Resources,
  params: JsonObject,
  ctx: InternalContext,
): Promise<Result> {
  const uri = requireUri(params)
  const { entry, variables } = findResource(registered, uri, ctx)
  const returned = await entry.read({ uri, variables }, ctx)
  if (typeof returned === 'string' || returned instanceof Uint8Array) {
    return { ...entry.cache, contents: [toContents(uri, entry.item.mimeType, returned)] }
  }
  if (!returned) throw notFound(uri, ctx)
  const { contents, resultType } = returned as Partial<ReadResourceResult>
  if (resultType !== 'input_required') {
    if (!Array.isArray(contents) || !contents.every(isResourceContents)) {
      throw new TypeError(`The reader of "${uri}" returned invalid contents`)
    }
    if (contents.length === 0) throw notFound(uri, ctx)
  }
  return entry.cache ? { ...entry.cache, ...returned } : returned
}

/**
 * Finds the entry for a URI, among those visible to the caller.
 *
 * @throws {ProtocolError} "Resource not found".
 */
export function findResource(
  registered: Resources,
  uri: string,
  ctx: InternalContext,
): FoundResource {
  const found = matchResource(registered, uri, ctx)
  if (found) return found
  if (!parseUrl(uri)) throw invalidParams(`"${uri}" is not a URI`)
  throw notFound(uri, ctx)
}

/** Finds the entry for a URI, among those visible to the caller; `undefined` if no entry matches. */
export function matchResource(
  { resources, resourceTemplates }: Resources,
  uri: string,
  requester: Requester,
): FoundResource | undefined {
  const entry = resources.find(uri, requester)
  if (entry) return { entry, variables: {} }
  for (const templateEntry of resourceTemplates.list(requester)) {
    const variables = templateEntry.template.match(uri)
    if (variables) return { entry: templateEntry, variables }
  }
  return undefined
}

function notFound(uri: string, { exchange }: InternalContext): ProtocolError {
  return new ProtocolError(serverFacts(exchange.revision).resourceNotFound, 'Resource not found', {
    uri,
  })
}

function toContents(
  uri: string,
  mimeType: string | undefined,
  data: string | Uint8Array,
): ResourceContents {
  const location = mimeType === undefined ? { uri } : { uri, mimeType }
  return typeof data === 'string'
    ? { ...location, text: data }
    : { ...location, blob: base64(data) }
}

/**
 * Returns the param `uri`.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` if the URI is missing, or is a `file:` URI with `..` segments, in
 * any encoding.
 */
export function requireUri(params: JsonObject): string {
  const uri = requireString(params, 'uri')
  if (/^file:/i.test(uri) && hasParentSegments(uri))
    throw invalidParams('The URI leads out of its folder')
  return uri
}

function hasParentSegments(uri: string): boolean {
  try {
    return TRAVERSAL.test(decodeURIComponent(uri))
  } catch {
    // A malformed escape could hide a `..` segment
    return true
  }
}
