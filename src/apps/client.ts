/**
 * Helpers for hosts that display user interfaces.
 *
 * @see https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx
 */
import { clientExtension } from '../client/client-extension.ts'
import type { ClientExtension } from '../client/extension.ts'
import type { Resource, ResourceContents, Tool } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import {
  APP_MIME_TYPE,
  APPS_EXTENSION,
  resourceMetaOf,
  toolMetaOf,
  type AppResourceMeta,
  type AppToolMeta,
} from './ui.ts'

/**
 * Creates the extension with which a host declares that it displays user interfaces, for the option
 * `extensions` of `connect`.
 *
 * @example
 * ```ts
 * import { appsClient, getToolUi } from 'edgewise/apps'
 * import { connect } from 'edgewise/client'
 *
 * await using client = await connect('https://example.com/mcp', { extensions: [appsClient()] })
 * for await (const tool of client.tools()) console.log(tool.name, getToolUi(tool).resourceUri)
 * ```
 *
 * @see https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx
 */
export function appsClient(mimeTypes: readonly string[] = [APP_MIME_TYPE]): ClientExtension {
  return clientExtension({ id: APPS_EXTENSION, settings: { mimeTypes } })
}

/**
 * Returns the user interface of a tool, from the tool's `_meta.ui`. The older `_meta["ui/resourceUri"]` is
 * accepted too.
 *
 * @see https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx
 */
export function getToolUi({ _meta }: Tool): AppToolMeta {
  return toolMetaOf(_meta)
}

/**
 * Returns whether a user interface from the same server may call a tool.
 *
 * @see https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx
 */
export function isAppVisible(tool: Tool): boolean {
  return getToolUi(tool).visibility?.includes('app') ?? true
}

/**
 * Returns how to display a document, according to its contents, or else to its entry in the list of resources.
 * Values that do not conform to the specification are omitted: a `csp` source that is not an origin
 * could inject directives into the host's policy.
 *
 * @param listed The resource as listed, if it was listed.
 * @see https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx
 */
export function getContentsUi(contents: ResourceContents, listed?: Resource): AppResourceMeta {
  for (const ui of [contents._meta?.ui, listed?._meta?.ui])
    if (isObject(ui)) return resourceMetaOf(ui)
  return {}
}
