/**
 * Documents that display the results of tools.
 *
 * @see https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx
 */
import type { ReadResourceResult, ResourceContents } from '../protocol/types.ts'
import type { Context } from '../server/request/context.ts'
import type { Registration } from '../server/registry.ts'
import type { ResourceOptions } from '../server/features/resources.ts'
import { base64 } from '../server/features/results.ts'
import type { Server } from '../server/server.ts'
import { extendWithApps } from './extension.ts'
import { APP_MIME_TYPE, CSP_LISTS, isOrigin, type AppResourceMeta } from './ui.ts'

/** How a document is described and displayed. */
export interface AppResourceOptions
  extends Omit<ResourceOptions, 'mimeType' | 'size'>, AppResourceMeta {}

/** The HTML of a document, as text or as bytes. */
type Html = string | Uint8Array

/** The beginning of a complete document. Comments may precede the doctype. */
const DOCUMENT_START = /^\uFEFF?\s*(?:<!--[\s\S]*?-->\s*)*<!doctype html/i

/**
 * Registers a document that displays the results of tools, and declares that the server has user
 * interfaces.
 *
 * @example
 * ```ts
 * import { appResource, appTool } from 'edgewise/apps'
 * import { createServer, text } from 'edgewise/server'
 *
 * const server = createServer({ name: 'weather', version: '1.0.0' })
 * const page = '<!doctype html><title>Weather</title><p>Sunny'
 * appResource(server, 'ui://weather/dashboard', { name: 'dashboard' }, page)
 * appTool(server, 'forecast', { ui: 'ui://weather/dashboard' }, () => text('Sunny, 21 °C'))
 * ```
 *
 * @param uri A URI with the scheme `ui://`.
 * @param html A complete HTML5 document, or a function that creates it for each reader.
 * @throws {TypeError} If the URI has another scheme or is taken, a member of `csp` is unknown or
 *   lists something other than origins, or the document does not begin with its doctype.
 * @see https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx
 */
export function appResource<Env>(
  server: Server<Env>,
  uri: string,
  options: AppResourceOptions,
  html: Html | ((ctx: Context<Env>) => Html | Promise<Html>),
): Registration {
  if (!uri.startsWith('ui://') || uri === 'ui://') {
    throw new TypeError(`"${uri}" is not a UI resource: its URI must begin with "ui://"`)
  }
  const { csp, permissions, domain, prefersBorder, meta, ...resourceOptions } = options
  for (const [name, origins] of Object.entries(csp ?? {})) {
    if (!CSP_LISTS.includes(name)) {
      throw new TypeError(`"csp" has no "${name}", only ${CSP_LISTS.join(', ')}`)
    }
    if (!Array.isArray(origins) || !origins.every(isOrigin)) {
      throw new TypeError(`"csp.${name}" must be a list of origins, not ${JSON.stringify(origins)}`)
    }
  }
  if (typeof html !== 'function') requireDocument(uri, html)
  const ui: AppResourceMeta = {
    ...(csp && { csp }),
    ...(permissions && { permissions }),
    ...(domain !== undefined && { domain }),
    ...(prefersBorder !== undefined && { prefersBorder }),
  }
  const _meta = { ...meta, ...(Object.keys(ui).length > 0 && { ui }) }
  extendWithApps(server)
  const resource = { ...resourceOptions, mimeType: APP_MIME_TYPE, meta: _meta }
  return server.resource(uri, resource, async (_request, ctx): Promise<ReadResourceResult> => {
    const content = typeof html === 'function' ? await html(ctx) : html
    requireDocument(uri, content)
    const common = { uri, mimeType: APP_MIME_TYPE, _meta }
    const contents: ResourceContents =
      typeof content === 'string'
        ? { ...common, text: content }
        : { ...common, blob: base64(content) }
    return { contents: [contents] }
  })
}

function requireDocument(uri: string, html: Html): void {
  const text = typeof html === 'string' ? html : new TextDecoder().decode(html)
  if (!DOCUMENT_START.test(text)) throw new TypeError(`"${uri}" must begin with "<!doctype html>"`)
}
