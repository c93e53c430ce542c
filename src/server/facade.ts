/**
 * The server object that the application uses: a thin facade of the definition.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server
 */
import type { ServerDefinition } from './definition.ts'
import { attachDefinition } from './definition-of.ts'
import { toolEntry } from './features/tools.ts'
import type { Context } from './request/context.ts'
import type { BaseServer, Middleware, MiddlewareLayer } from './server.ts'

/**
 * Creates the server object: the members of every server, and the members of its preset.
 *
 * @param added The members that the preset adds.
 */
export function createFacade<Added extends object>(
  definition: ServerDefinition,
  added: Added,
): BaseServer<unknown, Context> & Added {
  const { info, tools } = definition
  const base: BaseServer<unknown, Context> = {
    info,
    tool(name, options, handler) {
      const registration = tools.add(name, toolEntry(definition, name, options, handler))
      return {
        ...registration,
        update: (...replacement) =>
          registration.replace(toolEntry(definition, name, ...replacement)),
      }
    },
    use(...args: unknown[]) {
      const layer = args.pop() as Middleware & Partial<MiddlewareLayer>
      const method = args[0] as string | undefined
      if (layer.addTo) layer.addTo(facade, method)
      else definition.middleware.push({ method, run: layer })
      definition.resetCapabilities()
    },
  }
  const facade = Object.assign(base, added)
  return attachDefinition(facade, definition)
}
