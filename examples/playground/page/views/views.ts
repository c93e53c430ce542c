/**
 * The views of a connected server, by the kind of their route.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server
 */
import type { Connection } from '../connection/connection.ts'
import { hrefOf, type EntryKind, type Kind, type Route } from '../route.ts'
import type { Workspace } from '../workspace.ts'
import { checkView } from './check.ts'
import { eventsView } from './events.ts'
import { frame } from './frame.ts'
import { historyView } from './history.ts'
import { promptView } from './prompt.ts'
import { resourceView, templateView } from './resource.ts'
import { missingView, serverView } from './server.ts'
import { toolView } from './tool.ts'

/** Creates a view. Returns `undefined` if the server lists no such entry. */
type CreateView = (
  workspace: Workspace,
  key: string,
  catalog: Connection['catalog'],
) => HTMLElement | undefined

const views: { readonly [K in Exclude<Kind, 'server'>]?: CreateView } = {
  tool(workspace, key, { tool: tools }) {
    const tool = tools.find(({ name }) => name === key)
    return tool && toolView(workspace, tool)
  },
  prompt(workspace, key, { prompt: prompts }) {
    const prompt = prompts.find(({ name }) => name === key)
    return prompt && promptView(workspace, prompt)
  },
  template(workspace, key, { template: templates }) {
    const template = templates.find(({ uriTemplate }) => uriTemplate === key)
    return template && templateView(workspace, template)
  },
  resource(workspace, key, { resource: resources }) {
    // A resource that a tool's result links to may be in no list
    const resource = resources.find(({ uri }) => uri === key)
    return resourceView(workspace, resource ?? { uri: key, name: key })
  },
  history: historyView,
  check: checkView,
  events: eventsView,
}

/** Returns the view of a route: the one that was opened before, unless the server has changed its definition. */
export function viewOf(
  workspace: Workspace,
  connection: Connection,
  route: Route | undefined,
): HTMLElement {
  if (!route || route.kind === 'server') return serverView(workspace, connection)
  const { kind, key } = route
  const href = hrefOf({ kind, key })
  const definition = definitionOf(connection, route)
  const opened = workspace.views.get(href)
  if (opened && opened.definition === definition) return opened.element
  let element: HTMLElement | undefined
  try {
    element = views[kind]?.(workspace, key, connection.catalog)
  } catch (error) {
    // A definition may have members of any type
    return frame({ kind: 'Malformed', title: key, description: String(error) })
  }
  // Not stored, as the server may list it later
  if (!element) return missingView(route, connection)
  workspace.views.set(href, { element, definition })
  return element
}

/** The entry of the server's lists that a view shows, as JSON. */
function definitionOf({ catalog }: Connection, { kind, key }: Route): string {
  const { tool, prompt, resource, template } = catalog
  const entry = {
    tool: () => tool.find(({ name }) => name === key),
    prompt: () => prompt.find(({ name }) => name === key),
    resource: () => resource.find(({ uri }) => uri === key),
    template: () => template.find(({ uriTemplate }) => uriTemplate === key),
  }
  return JSON.stringify(kind in entry && entry[kind as EntryKind]())
}
