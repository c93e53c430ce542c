/**
 * What is said of user interfaces on the wire.
 *
 * @see https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx
 */
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Tool } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'

/** The id of the extension. */
export const APPS = 'io.modelcontextprotocol/ui'

/** The type of an interface's document. */
export const APP_MIME_TYPE = 'text/html;profile=mcp-app'

/** The origins that a document may use; none by default. */
export interface AppCsp {
  /** For requests: `connect-src`. */
  connectDomains?: string[]
  /** For scripts, styles, images, fonts and media; `https://*.example.com` is possible. */
  resourceDomains?: string[]
  /** For frames inside. */
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

const ORIGIN = /^(?:https?|wss?):\/\/(?:\*\.)?[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::(?:\d+|\*))?$/i

/** Whether a value is an origin, and so cannot add to a policy that it becomes part of. */
export function isOrigin(value: unknown): value is string {
  return typeof value === 'string' && ORIGIN.test(value)
}

/** What a document would like of the browser; hosts may refuse it. */
export interface AppPermissions {
  camera?: JsonObject
  microphone?: JsonObject
  geolocation?: JsonObject
  clipboardWrite?: JsonObject
}

/** How a host is to show a document. */
export interface AppResourceMeta {
  csp?: AppCsp
  permissions?: AppPermissions
  /** An origin of its own, in the form that the host has. */
  domain?: string
  /** Whether the host draws a border and a background; as it likes when absent. */
  prefersBorder?: boolean
}

/** How a tool is tied to an interface. */
export interface AppToolMeta {
  /** The document that shows what the tool gives. */
  resourceUri?: string
  /** Who may call the tool; both by default. */
  visibility?: ('model' | 'app')[]
}

/** Whether settings of the extension say that a client shows documents of this kind. */
export function takesApps(settings: JsonObject | undefined): boolean {
  const { mimeTypes } = settings ?? {}
  return Array.isArray(mimeTypes) && mimeTypes.includes(APP_MIME_TYPE)
}

/** What a server says of how a document is to be shown, as far as it is what it should be. */
export function resourceMetaOf(ui: JsonObject): AppResourceMeta {
  const known: AppResourceMeta = {}
  const { csp, permissions, domain, prefersBorder } = ui
  if (isObject(csp)) {
    const lists = CSP_LISTS.map((name) => [name, csp[name]] as const)
    known.csp = Object.fromEntries(
      lists.flatMap(([name, list]) => (Array.isArray(list) ? [[name, list.filter(isOrigin)]] : [])),
    )
  }
  if (isObject(permissions)) {
    known.permissions = Object.fromEntries(
      Object.entries(permissions).filter(([, wanted]) => isObject(wanted)),
    )
  }
  if (typeof domain === 'string') known.domain = domain
  if (typeof prefersBorder === 'boolean') known.prefersBorder = prefersBorder
  return known
}

/** What the `_meta` of a tool says of its interface; the older flat form counts too. */
export function toolMetaOf(meta: unknown): AppToolMeta {
  const { ui, 'ui/resourceUri': flat } = isObject(meta) ? meta : {}
  const { resourceUri = flat, visibility } = isObject(ui) ? ui : {}
  const known: AppToolMeta = {}
  if (typeof resourceUri === 'string' && resourceUri.startsWith('ui://')) {
    known.resourceUri = resourceUri
  }
  if (Array.isArray(visibility)) {
    known.visibility = visibility.filter((one) => one === 'model' || one === 'app')
  }
  return known
}

/** Whether a tool may be shown to a model. */
export function isModelVisible({ _meta }: Tool): boolean {
  return toolMetaOf(_meta).visibility?.includes('model') ?? true
}
