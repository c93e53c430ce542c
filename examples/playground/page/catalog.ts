/**
 * All lists of a server.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server
 */
import {
  ErrorCode,
  ProtocolError,
  type Annotations,
  type Client,
  type Prompt,
  type Resource,
  type ResourceTemplate,
  type Tool,
  type ToolAnnotations,
} from 'edgewise/browser'

/** The lists of a server. */
export interface Catalog {
  tool: Tool[]
  resource: Resource[]
  template: ResourceTemplate[]
  prompt: Prompt[]
  /** The lists that could not be fetched. They are empty. */
  failures: ListFailure[]
}

/** Why a list could not be fetched. */
export interface ListFailure {
  /** The method, such as `tools/list`. */
  readonly method: string
  readonly error: unknown
}

/**
 * Requests every list that the server declares. If it declares nothing, requests all lists.
 *
 * @param onError Called if a list cannot be fetched.
 */
export async function loadCatalog(
  client: Client,
  onError: (error: unknown) => void,
): Promise<Catalog> {
  const capabilities = client.serverCapabilities
  const failures: ListFailure[] = []
  const list = async <T>(
    name: 'tools' | 'resources' | 'prompts',
    get: () => Promise<T[]>,
    method = `${name}/list`,
  ) => {
    if (capabilities && !capabilities[name]) return []
    return get().catch((error: unknown) => {
      onError(error)
      // Many servers with resources have no templates
      const isOptional = !capabilities || method !== `${name}/list`
      const isMissing = error instanceof ProtocolError && error.code === ErrorCode.METHOD_NOT_FOUND
      if (!isOptional || !isMissing) failures.push({ method, error })
      return []
    })
  }
  const [tool, resource, template, prompt] = await Promise.all([
    list('tools', () => client.listAllTools()),
    list('resources', () => client.listAllResources()),
    list('resources', () => client.listAllResourceTemplates(), 'resources/templates/list'),
    list('prompts', () => client.listAllPrompts()),
  ])
  return { tool, resource, template, prompt, failures }
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
