/**
 * Finds the internal definition behind a server object.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server
 */
import type { ServerDefinition } from './definition.ts'
import type { TaskFactory } from './features/tools.ts'
import type { BaseServer, Server } from './server.ts'

/**
 * The definition of each server object. Applications cannot reach it, as it is not a member of the
 * object.
 */
const definitions = new WeakMap<object, ServerDefinition>()

/** Associates a definition with the server object that the application uses. */
export function attachDefinition<T extends object>(server: T, definition: ServerDefinition): T {
  definitions.set(server, definition)
  return server
}

/**
 * Returns the definition of any server.
 *
 * @throws {TypeError} If the value was not created by a `createServer`, or a tool requires tasks
 * but no extension supports them.
 */
export function definitionOf(server: BaseServer): ServerDefinition {
  const definition = unverifiedDefinitionOf(server)
  definition.verify?.()
  if (!definition.tasks) {
    for (const [name, { item, mirrored }] of definition.tools.entries()) {
      if (mirrored || item.execution?.taskSupport !== 'required') continue
      throw new TypeError(`The tool "${name}" must run as a task: extend the server with tasks()`)
    }
  }
  return definition
}

/**
 * Returns the definition of any server. The server may still lack extensions that it needs.
 *
 * @throws {TypeError} If the value was not created by a `createServer`.
 */
export function unverifiedDefinitionOf(server: BaseServer): ServerDefinition {
  const definition = definitions.get(server)
  if (definition) return definition
  throw foreignServerError('edgewise/server or edgewise/server/tiny')
}

/**
 * Returns the definition of a full server from `edgewise/server`, but not of a tiny one.
 *
 * @throws {TypeError} If the value is not a full server.
 */
export function fullDefinitionOf(server: Server): ServerDefinition {
  const definition = definitions.get(server)
  if (definition?.notify) return definition
  throw foreignServerError('edgewise/server')
}

function foreignServerError(entries: string): TypeError {
  return new TypeError(`The server must be made by createServer of ${entries}`)
}

/** Returns the factory that turns a server's calls into tasks, if the server supports tasks. */
export function tasksOf(server: BaseServer): TaskFactory | undefined {
  return definitionOf(server).tasks
}
