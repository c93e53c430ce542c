/**
 * Tools with a user interface.
 *
 * @see https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx
 */
import type { JsonObject } from '../protocol/types.ts'
import type { StandardSchema } from '../protocol/standard-schema.ts'
import { isObject } from '../protocol/validate.ts'
import type { ServerDefinition } from '../server/definition.ts'
import type { Server } from '../server/server.ts'
import type {
  ToolHandler,
  ToolHandlerFor,
  ToolOptions,
  ToolRegistration,
} from '../server/features/tools.ts'
import { extendWithApps } from './extension.ts'
import type { AppToolMeta } from './ui.ts'

/** How a tool with a user interface is described and validated. */
export interface AppToolOptions<
  Input extends StandardSchema = StandardSchema,
  Output extends StandardSchema = StandardSchema,
> extends ToolOptions<Input, Output> {
  /** The URI of the document that displays the tool's result; register the document first. */
  ui?: string
  /**
   * Who may call the tool: the model, the user interface, or both.
   *
   * @default ['model', 'app']
   */
  visibility?: ('model' | 'app')[]
}

/**
 * Registers a tool with a user interface. If the model may call the tool, clients without user
 * interfaces receive it as a plain tool, so its result must make sense without the interface.
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
 * @throws {TypeError} If the document is not registered, or neither the model nor the interface may
 *   call the tool; also the errors of `server.tool`.
 * @see https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx
 */
export function appTool<Input extends StandardSchema, Output extends StandardSchema, Env>(
  server: Server<Env>,
  name: string,
  options: AppToolOptions<Input, Output>,
  handler: ToolHandlerFor<Input, Output, Env>,
): ToolRegistration<Env> {
  const definition = extendWithApps(server)
  const link = linkOf(definition, name, options)
  const registration = server.tool(
    name,
    withUiLink(options, link),
    reportEmptyResults(definition, name, handler),
  )
  return {
    ...registration,
    // An update does not change the interface and the visibility
    update: (newOptions, newHandler) =>
      registration.update(
        withUiLink(newOptions, link),
        reportEmptyResults(definition, name, newHandler),
      ),
  }
}

/**
 * The link from a tool to its document.
 *
 * @throws {TypeError} If the options are invalid, or the document is not registered.
 */
function linkOf(
  { resources }: ServerDefinition,
  name: string,
  { ui: resourceUri, visibility }: AppToolOptions,
): AppToolMeta {
  if (resourceUri !== undefined && !resources.entries().has(resourceUri))
    throw new TypeError(`The UI resource "${resourceUri}" of "${name}" is not registered`)
  if (resourceUri !== undefined && !resourceUri.startsWith('ui://')) {
    throw new TypeError(`"${resourceUri}" is not a UI resource: its URI must begin with "ui://"`)
  }
  const invalid = visibility?.find((caller) => caller !== 'model' && caller !== 'app')
  if (invalid !== undefined)
    throw new TypeError(`"visibility" cannot contain "${String(invalid)}", only "model" and "app"`)
  if (visibility?.length === 0)
    throw new TypeError(`"visibility" of the tool "${name}" must not be empty`)
  return {
    ...(resourceUri !== undefined && { resourceUri }),
    ...(visibility && { visibility }),
  }
}

function withUiLink<Input extends StandardSchema, Output extends StandardSchema>(
  options: AppToolOptions<Input, Output>,
  link: AppToolMeta,
): ToolOptions<Input, Output> {
  const { ui: _, visibility: __, ...toolOptions } = options
  return { ...toolOptions, meta: { ...toolOptions.meta, ui: link } }
}

/** Reports results without content, which are empty for clients that show no user interface. */
function reportEmptyResults<Input extends StandardSchema, Output extends StandardSchema, Env>(
  definition: ServerDefinition,
  name: string,
  handler: ToolHandlerFor<Input, Output, Env>,
): ToolHandlerFor<Input, Output, Env> {
  const run: ToolHandler<Input, Output, Env> = handler
  const reporting: ToolHandler<Input, Output, Env> = async (args, ctx) => {
    // A result, a list of content blocks, or a single block, which has a `type`
    const returned = await run(args, ctx)
    const { content, structuredContent, resultType }: JsonObject = isObject(returned)
      ? returned
      : {}
    const blocks = Array.isArray(returned) ? returned : content
    const isEmpty = Array.isArray(blocks) ? blocks.length === 0 : structuredContent === undefined
    const isResult = Array.isArray(returned) || (isObject(returned) && !('type' in returned))
    if (isResult && isEmpty && (resultType ?? 'complete') === 'complete') {
      definition.report(
        new TypeError(`The tool "${name}" returns no content for clients without UI support`),
      )
    }
    return returned
  }
  return reporting as ToolHandlerFor<Input, Output, Env>
}
