/**
 * The wire format of user interfaces.
 *
 * @see https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx
 */
import type { Tool, JsonObject } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'

/** The id of the extension. */
export const APPS_EXTENSION = 'io.modelcontextprotocol/ui'

/** The media type of a user interface document. */
export const APP_MIME_TYPE = 'text/html;profile=mcp-app'

/** The origins that a document may load from; none by default. */
export interface AppCsp {
  /** For requests: `connect-src`. */
  connectDomains?: string[]
  /** For scripts, styles, images, fonts and media; wildcards such as `https://*.example.com` are allowed. */
  resourceDomains?: string[]
  /** For nested frames. */
  frameDomains?: string[]
  /** For `base-uri`. */
  baseUriDomains?: string[]
}

/** The members of {@link AppCsp}. */
export const CSP_LISTS: readonly string[] = [
  'connectDomains',
  'resourceDomains',
  'frameDomains',
  'baseUriDomains',
] satisfies (keyof AppCsp)[]

/** An origin of a Content-Security-Policy. The first label of the host, and the port, may be `*`. */
const ORIGIN = /^(?:https?|wss?):\/\/(?:\*\.)?[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::(?:\d+|\*))?$/i

/** Whether a value is an origin, and therefore cannot inject directives into a policy. */
export function isOrigin(value: unknown): value is string {
  return typeof value === 'string' && ORIGIN.test(value)
}

/** The browser permissions that a document requests; hosts may deny them. */
export interface AppPermissions {
  camera?: JsonObject
  microphone?: JsonObject
  geolocation?: JsonObject
  clipboardWrite?: JsonObject
}

/** How a host displays a document. */
export interface AppResourceMeta {
  csp?: AppCsp
  permissions?: AppPermissions
  /** A dedicated origin for the document, in the host's format. */
  domain?: string
  /** Whether the host draws a border and a background; the host decides if absent. */
  prefersBorder?: boolean
}

/** How a tool is linked to a user interface. */
export interface AppToolMeta {
  /** The URI of the document that displays the tool's result. */
  resourceUri?: string
  /**
   * Who may call the tool.
   *
   * @default ['model', 'app']
   */
  visibility?: ('model' | 'app')[]
}

/** Whether a client's settings of the extension list the media type of apps. */
export function rendersApps(settings: JsonObject | undefined): boolean {
  const { mimeTypes } = settings ?? {}
  return Array.isArray(mimeTypes) && mimeTypes.includes(APP_MIME_TYPE)
}

/** How a server wants a document displayed; malformed values are omitted. */
export function resourceMetaOf(ui: JsonObject): AppResourceMeta {
  const result: AppResourceMeta = {}
  const { csp, permissions, domain, prefersBorder } = ui
  if (isObject(csp)) {
    const lists = CSP_LISTS.map((name) => [name, csp[name]] as const)
    result.csp = Object.fromEntries(
      lists.flatMap(([name, list]) => (Array.isArray(list) ? [[name, list.filter(isOrigin)]] : [])),
    )
  }
  if (isObject(permissions)) {
    result.permissions = Object.fromEntries(
      Object.entries(permissions).filter(([, permission]) => isObject(permission)),
    )
  }
  if (typeof domain === 'string') result.domain = domain
  if (typeof prefersBorder === 'boolean') result.prefersBorder = prefersBorder
  return result
}

/** The user interface in the `_meta` of a tool, as `ui` or as the older `ui/resourceUri`. */
export function toolMetaOf(meta: unknown): AppToolMeta {
  const { ui, 'ui/resourceUri': olderUri } = isObject(meta) ? meta : {}
  const { resourceUri = olderUri, visibility } = isObject(ui) ? ui : {}
  const result: AppToolMeta = {}
  if (typeof resourceUri === 'string' && resourceUri.startsWith('ui://')) {
    result.resourceUri = resourceUri
  }
  if (Array.isArray(visibility)) {
    result.visibility = visibility.filter((caller) => caller === 'model' || caller === 'app')
  }
  return result
}

/**
 * Returns whether a tool may be offered to a model.
 *
 * @see https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx
 */
export function isModelVisible({ _meta }: Tool): boolean {
  return toolMetaOf(_meta).visibility?.includes('model') ?? true
}
