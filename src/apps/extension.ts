/**
 * Declares the extension MCP Apps on a server, and hides user interfaces from clients that do not support it.
 *
 * @see https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx
 */
import { ProtocolError } from '../protocol/errors.ts'
import { INVALID_PARAMS } from '../protocol/error-codes.ts'
import type { Resource, Result, Tool } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import type { Context } from '../server/request/context.ts'
import type { RequestContext } from '../server/request/request-context.ts'
import { addExtension } from '../server/composition/extend.ts'
import { fullDefinitionOf } from '../server/definition-of.ts'
import type { ServerDefinition } from '../server/definition.ts'
import type { Server } from '../server/server.ts'
import { APPS_EXTENSION, isModelVisible, rendersApps, toolMetaOf } from './ui.ts'

const extendedServers = new WeakSet<Server>()

/**
 * Returns whether the client of a request displays user interfaces. Other clients need the complete
 * result as content.
 *
 * @param ctx The context of any handler.
 * @see https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx
 */
export function supportsApps(ctx: Pick<Context, 'extension'>): boolean {
  return rendersApps(ctx.extension(APPS_EXTENSION))
}

/**
 * Whether to send information that only clients with user interfaces use. It is also sent if the
 * client's capabilities are unknown, because other clients ignore it.
 */
function mayShowApps(ctx: Pick<Context, 'client' | 'extension'>): boolean {
  return ctx.client.unknown === true || supportsApps(ctx)
}

/** Adds the extension to a server, unless it was already added. Returns the definition of the server. */
export function extendWithApps(server: Server): ServerDefinition {
  const definition = fullDefinitionOf(server)
  if (extendedServers.has(server)) return definition
  extendedServers.add(server)
  addExtension(server, {
    id: APPS_EXTENSION,
    revisions: false,
    attach() {
      server.use('tools/list', async (_request, ctx, next) => {
        return listTools(definition, await next(), ctx as RequestContext)
      })
      server.use('resources/list', async (_request, ctx, next) => {
        return mayShowApps(ctx) ? next() : withoutApps(await next())
      })
      server.use('tools/call', async ({ params }, ctx, next) => {
        const name = typeof params.name === 'string' ? params.name : ''
        const tool = definition.tools.find(name, ctx)
        if (!tool || mayShowApps(ctx) || isModelVisible(tool.item)) return next()
        throw new ProtocolError(INVALID_PARAMS, `Unknown tool: "${name}"`)
      })
    },
  })
  return definition
}

/** Cached lists for clients with user interfaces, keyed by the original list. */
const listsWithUi = new WeakMap<Result, Result>()
/** Cached lists for clients without user interfaces, keyed by the original list. */
const listsWithoutUi = new WeakMap<Result, Result>()

/**
 * The tools that a client can use. Interfaces are removed for a client that displays none, and links to
 * documents that do not exist are removed for every client.
 */
function listTools(definition: ServerDefinition, result: Result, ctx: RequestContext): Result {
  const tools = result.tools as readonly Tool[]
  if (!mayShowApps(ctx)) {
    return cachedVariant(listsWithoutUi, result, () => ({
      tools: tools.filter(isModelVisible).map(withoutUi),
    }))
  }
  // A client whose capabilities are unknown may not show apps, and would offer app-only tools to the model
  const visibleTools = supportsApps(ctx) ? tools : tools.filter(isModelVisible)
  const toolsWithoutDocument = visibleTools.filter((tool) => lacksDocument(definition, tool, ctx))
  if (toolsWithoutDocument.length === 0 && visibleTools === tools)
    return cachedVariant(listsWithUi, result, unchanged)
  const withValidLinks = visibleTools.map((tool) =>
    toolsWithoutDocument.includes(tool) ? withoutLink(tool) : tool,
  )
  return { ...result, tools: withValidLinks, cacheScope: 'private' }
}

function withoutApps(result: Result): Result {
  const resources = result.resources as readonly Resource[]
  return cachedVariant(listsWithoutUi, result, () => ({
    resources: resources.filter(({ uri }) => !uri.startsWith('ui://')),
  }))
}

/** The change for a variant that differs only in `cacheScope`. */
const unchanged = (): object => ({})

/** A cached variant of a list for one kind of client. */
function cachedVariant(
  variants: WeakMap<Result, Result>,
  list: Result,
  change: () => object,
): Result {
  const variant = variants.get(list) ?? { ...list, ...change(), cacheScope: 'private' }
  variants.set(list, variant)
  return variant
}

/** Whether a tool links to a document that the client cannot read. */
function lacksDocument(
  { resources }: ServerDefinition,
  { _meta }: Tool,
  ctx: RequestContext,
): boolean {
  const { resourceUri } = toolMetaOf(_meta)
  return resourceUri !== undefined && !resources.find(resourceUri, ctx)
}

/** A tool without its link, because the document no longer exists. The tool's visibility still applies. */
function withoutLink(tool: Tool): Tool {
  const ui: unknown = tool._meta?.ui
  const { resourceUri: _, ...rest } = isObject(ui) ? ui : {}
  return { ...tool, _meta: { ...tool._meta, ui: rest } }
}

function withoutUi(tool: Tool): Tool {
  const { _meta, ...withoutMeta } = tool
  const { ui: _, 'ui/resourceUri': __, ...others } = _meta ?? {}
  return Object.keys(others).length > 0 ? { ...withoutMeta, _meta: others } : withoutMeta
}
