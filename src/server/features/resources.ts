/**
 * Resources: what a client can read, by URI or by URI template.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/resources
 */
import { isResourceContents } from '../../protocol/content.ts'
import { ProtocolError } from '../../protocol/errors.ts'
import type { JsonObject } from '../../protocol/jsonrpc.ts'
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
} from '../../protocol/types.ts'
import { serverFacts } from '../../protocol/server-facts.ts'
import { requireHints } from './caching.ts'
import type { Completers } from './completion.ts'
import type { Context } from '../request/context.ts'
import type { HandlerContext } from '../request/base-request-context.ts'
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

/** How a resource is described. */
export interface ResourceOptions {
  /** The identifier that programs use. */
  name: string
  /** What people see (since 2025-06-18). */
  title?: string
  description?: string
  mimeType?: string
  /** In bytes, before any Base64. */
  size?: number
  annotations?: Annotations
  icons?: Icon[]
  /** The resource's `_meta`. */
  meta?: Meta
  /** For how long clients may keep the contents (since 2026-07-28). */
  cache?: CacheHints
  /** Whether a caller may see and read the resource; everybody by default. */
  visible?: (viewer: Viewer) => boolean
}

/** How a family of resources is described. */
export interface ResourceTemplateOptions<Env = unknown> extends Omit<ResourceOptions, 'size'> {
  /** Completes the template's variables, by name. */
  complete?: Completers<Env>
}

/** What is read: the URI, and the values of the template's variables. */
export interface ReadRequest {
  uri: string
  /**
   * Decoded, by name; those of a query that were not given are missing, and all of them for a
   * resource that is no template's.
   */
  variables: { readonly [name: string]: string | string[] | undefined }
}

/**
 * What a reader may return: text, bytes, contents, or a whole result; nothing, or no contents, when
 * there is no such resource.
 */
export type ReadReturn = string | Uint8Array | ReadResourceResult | InputRequiredResult | undefined

/** Reads a resource. */
export type ReadHandler<Env = unknown, Ctx = Context<Env>> = (
  request: ReadRequest,
  ctx: Ctx,
) => ReadReturn | Promise<ReadReturn>

/** Changes a resource, or a family of resources, later. */
export interface ResourceRegistration<
  Options,
  Env = unknown,
  Ctx = Context<Env>,
> extends Registration {
  /** Describes and reads the resource in another way, under the same URI or template. */
  update(options: Options, read: ReadHandler<Env, Ctx>): void
}

/** A registered resource. */
export interface ResourceEntry extends Entry {
  readonly item: Resource
  readonly cache: CacheHints | undefined
  readonly read: ReadHandler
}

/** A registered family of resources. */
export interface ResourceTemplateEntry extends Entry {
  readonly item: ResourceTemplate
  readonly template: UriTemplate
  readonly complete: Completers | undefined
  readonly cache: CacheHints | undefined
  readonly read: ReadHandler
}

/** RFC 3986, section 3.1; nothing that a URI cannot hold may follow. */
const SCHEME = /^[a-z][a-z\d+.-]*:[^\s\\^`{|}<>"]*$/i
/** What climbs out of a folder, or confuses those who look for it. */
const TRAVERSAL = /(?:^|[/\\])\.\.(?:[/\\]|$)|[\\\0]/

/** All that a server lets clients read. */
export interface Resources {
  readonly resources: Registry<ResourceEntry>
  readonly resourceTemplates: Registry<ResourceTemplateEntry>
}

/** The entry that reads a URI, with the values of the template's variables. */
interface FoundResource {
  readonly entry: ResourceEntry | ResourceTemplateEntry
  readonly variables: ReadRequest['variables']
}

/**
 * Makes an entry of a resource.
 *
 * @throws {TypeError} when the URI is none, or the caching hints are wrong.
 */
export function resourceEntry(
  uri: string,
  options: ResourceOptions,
  read: ReadHandler,
): ResourceEntry {
  if (uri.includes('{')) throw new TypeError(`"${uri}" is a template: use resourceTemplate`)
  if (!SCHEME.test(uri)) throw new TypeError(`"${uri}" is no URI: it must begin with a scheme`)
  requireKnown(`The resource "${uri}"`, options, OPTIONS)
  return entryOf({ uri }, options, read)
}

/** The options that resources and templates share. */
export const FAMILY_OPTIONS: OptionNames<Omit<ResourceOptions, 'size'>> = {
  ...COMMON_OPTIONS,
  ...{ name: 1, mimeType: 1, annotations: 1, cache: 1 },
}

const OPTIONS = { ...FAMILY_OPTIONS, size: 1 } satisfies OptionNames<ResourceOptions>

/** What an entry of a resource, or of a family, has. */
export function entryOf<Place extends object>(
  place: Place,
  { meta, cache, visible, ...described }: ResourceOptions,
  read: ReadHandler,
): Omit<ResourceEntry, 'item'> & { readonly item: Place & Omit<Resource, 'uri'> } {
  requireAnnotations(described.annotations)
  const item = { ...place, ...described, ...(meta && { _meta: meta }) }
  requireHandler(read, `The resource "${described.name}"`)
  return { enabled: true, visible, item, cache: requireHints(cache), read }
}

/**
 * Reads one resource.
 *
 * @throws {ProtocolError} "Resource not found" when no resource and no template has the URI, or its
 *   reader has nothing: -32002 before 2026-07-28, `INVALID_PARAMS` since; `data.uri` repeats the URI.
 */
export async function readResource(
  registered: Resources,
  params: JsonObject,
  ctx: HandlerContext,
): Promise<Result> {
  const uri = requireUri(params)
  const { entry, variables } = findResource(registered, uri, ctx)
  const returned = await entry.read({ uri, variables }, ctx)
  if (typeof returned !== 'string' && !(returned instanceof Uint8Array)) {
    if (!returned) throw notFound(uri, ctx)
    const { contents: found, resultType } = returned as Partial<ReadResourceResult>
    if (resultType !== 'input_required') {
      if (!Array.isArray(found) || !found.every(isResourceContents)) {
        throw new TypeError(`The reader of "${uri}" returned contents that are none`)
      }
      if (found.length === 0) throw notFound(uri, ctx)
    }
    return entry.cache ? { ...entry.cache, ...returned } : returned
  }
  return { ...entry.cache, contents: [contents(uri, entry.item.mimeType, returned)] }
}

/**
 * What reads a URI, as far as the caller may.
 *
 * @throws {ProtocolError} "Resource not found".
 */
export function findResource(
  registered: Resources,
  uri: string,
  ctx: HandlerContext,
): FoundResource {
  const found = matchResource(registered, uri, ctx)
  if (found) return found
  if (!URL.canParse(uri)) throw invalidParams(`"${uri}" is no URI`)
  throw notFound(uri, ctx)
}

/** Finds the entry that reads a URI, among those that the caller may see. */
export function matchResource(
  { resources, resourceTemplates }: Resources,
  uri: string,
  requester: Requester,
): FoundResource | undefined {
  const entry = resources.find(uri, requester)
  if (entry) return { entry, variables: {} }
  for (const family of resourceTemplates.list(requester)) {
    const variables = family.template.match(uri)
    if (variables) return { entry: family, variables }
  }
  return undefined
}

function notFound(uri: string, { exchange }: HandlerContext): ProtocolError {
  return new ProtocolError(serverFacts(exchange.revision).resourceNotFound, 'Resource not found', {
    uri,
  })
}

function contents(
  uri: string,
  mimeType: string | undefined,
  data: string | Uint8Array,
): ResourceContents {
  const described = mimeType === undefined ? { uri } : { uri, mimeType }
  return typeof data === 'string'
    ? { ...described, text: data }
    : { ...described, blob: base64(data) }
}

/** The URI; one of a file that leads out of its folder, however it is written, names nothing. */
export function requireUri(params: JsonObject): string {
  const uri = requireString(params, 'uri')
  if (/^file:/i.test(uri) && climbs(uri)) throw invalidParams('The URI leads out of its folder')
  return uri
}

function climbs(uri: string): boolean {
  try {
    return TRAVERSAL.test(decodeURIComponent(uri))
  } catch {
    return true
  }
}
