/**
 * All lists of a server.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server
 */
import type {
  Annotations,
  Client,
  Prompt,
  Resource,
  ResourceTemplate,
  Tool,
  ToolAnnotations,
} from 'edgewise/browser'

/** The lists of a server. */
export interface Catalog {
  tool: Tool[]
  resource: Resource[]
  template: ResourceTemplate[]
  prompt: Prompt[]
  /** Why some lists cannot be shown. */
  failure?: unknown
}

/**
 * Requests every list that the server declares. If it declares nothing, requests all lists.
 *
 * @param onError Called if a list cannot be fetched. The list is then empty, and the catalog has the error.
 */
export async function loadCatalog(
  client: Client,
  onError: (error: unknown) => void,
): Promise<Catalog> {
  const capabilities = client.serverCapabilities
  let failure: unknown
  const list = async <T>(name: 'tools' | 'resources' | 'prompts', get: () => Promise<T[]>) => {
    if (capabilities && !capabilities[name]) return []
    return get().catch((error: unknown) => {
      onError(error)
      failure = error
      return []
    })
  }
  const [tool, resource, template, prompt] = await Promise.all([
    list('tools', () => client.listAllTools()),
    list('resources', () => client.listAllResources()),
    list('resources', () => client.listAllResourceTemplates()),
    list('prompts', () => client.listAllPrompts()),
  ])
  return { tool, resource, template, prompt, failure }
}

/** The members that a title is derived from. */
export interface Named {
  name: string
  title?: string
  annotations?: Annotations & ToolAnnotations
}

/** Returns the title to show. In older revisions, only the annotations of tools have titles. */
export function titleOf({ title, annotations, name }: Named): string {
  return title ?? annotations?.title ?? name
}
