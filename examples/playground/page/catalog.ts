/**
 * Everything that a server lists.
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
}

/**
 * Asks for every list that the server has, or may have when it does not say.
 *
 * @param onError Called when a list could not be fetched, which is then empty.
 */
export async function loadCatalog(
  client: Client,
  onError: (error: unknown) => void,
): Promise<Catalog> {
  const offered = client.serverCapabilities
  const list = async <T>(name: 'tools' | 'resources' | 'prompts', get: () => Promise<T[]>) => {
    if (offered && !offered[name]) return []
    return get().catch((error: unknown) => {
      onError(error)
      return []
    })
  }
  const [tool, resource, template, prompt] = await Promise.all([
    list('tools', () => client.listAllTools()),
    list('resources', () => client.listAllResources()),
    list('resources', () => client.listAllResourceTemplates()),
    list('prompts', () => client.listAllPrompts()),
  ])
  return { tool, resource, template, prompt }
}

/** What names and titles are taken from. */
export interface Named {
  name: string
  title?: string
  annotations?: Annotations & ToolAnnotations
}

/** What to call a thing; before tools had titles, their annotations did. */
export function titleOf({ title, annotations, name }: Named): string {
  return title ?? annotations?.title ?? name
}
