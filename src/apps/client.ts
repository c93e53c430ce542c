/**
 * What a host has to know of tools and documents.
 *
 * @see https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx
 */
import { clientExtension } from '../client/client-extension.ts'
import type { ClientExtension } from '../client/extension.ts'
import type { Resource, ResourceContents, Tool } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import {
  APP_MIME_TYPE,
  APPS,
  resourceMetaOf,
  toolMetaOf,
  type AppResourceMeta,
  type AppToolMeta,
} from './ui.ts'

/** Declares that the host shows interfaces; for the `extensions` of `connect`. */
export function appsClient(mimeTypes: readonly string[] = [APP_MIME_TYPE]): ClientExtension {
  return clientExtension({ id: APPS, settings: { mimeTypes } })
}

/** What a tool says of its interface; the older flat form counts too. */
export function getToolUi({ _meta }: Tool): AppToolMeta {
  return toolMetaOf(_meta)
}

/** Whether a tool may be called by an interface of the same server. */
export function isAppVisible(tool: Tool): boolean {
  return getToolUi(tool).visibility?.includes('app') ?? true
}

/**
 * How a document is to be shown: as its contents say, otherwise as the list of resources does. What is
 * not in the form of the specification is left out: a source of `csp` that is no origin could add to
 * the policy of the host.
 *
 * @param listed The resource as a list had it, if it was listed.
 */
export function getContentsUi(contents: ResourceContents, listed?: Resource): AppResourceMeta {
  for (const ui of [contents._meta?.ui, listed?._meta?.ui])
    if (isObject(ui)) return resourceMetaOf(ui)
  return {}
}
