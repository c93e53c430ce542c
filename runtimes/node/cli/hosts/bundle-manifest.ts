/**
 * Creates the manifest of an MCP bundle.
 *
 * @see https://github.com/modelcontextprotocol/mcpb/blob/main/MANIFEST.md
 */
import { parseUrl } from '#internal/patterns'
import type { Implementation, JsonObject } from '../../../../src/index.ts'
import type { BundleContents } from './bundle-files.ts'
import { isObject } from './json-text.ts'

/** What a server reports about itself when it is started. */
export interface ServerReport {
  readonly info: Implementation | undefined
  readonly tools: readonly { readonly name: string; readonly description?: string | undefined }[]
  readonly hasPrompts: boolean
}

/**
 * Creates a manifest from the package and what the server reports. The members of the author's own `manifest.json` take
 * precedence.
 *
 * @param variables The environment variables whose values the host asks the user for.
 */
export function bundleManifest(
  { entryPoint, packageJson, authoredManifest }: BundleContents,
  { info, tools, hasPrompts }: ServerReport,
  name: string,
  variables: readonly string[],
): JsonObject {
  const configKeys = variables.map((variable) => [variable, variable.toLowerCase()] as const)
  const env = Object.fromEntries(
    configKeys.map(([variable, key]) => [variable, `\${user_config.${key}}`]),
  )
  const userConfig = Object.fromEntries(
    configKeys.map(([variable, key]) => [key, userConfigEntry(variable)]),
  )
  const { description = info?.description ?? info?.title ?? name, version = info?.version } =
    packageJson
  const { license, keywords, homepage, engines } = packageJson
  const node = isObject(engines) && typeof engines['node'] === 'string' ? engines['node'] : '>=20'
  return {
    manifest_version: '0.3',
    name,
    ...(info?.title !== undefined && { display_name: info.title }),
    version: nonEmptyText(version) ?? '0.0.0',
    description: nonEmptyText(description) ?? name,
    author: authorOf(packageJson) ?? { name },
    ...(typeof license === 'string' && { license }),
    ...(isUrl(homepage) && { homepage }),
    ...repositoryOf(packageJson),
    ...(Array.isArray(keywords) && {
      keywords: keywords.filter((word) => typeof word === 'string'),
    }),
    server: {
      type: 'node',
      entry_point: entryPoint,
      mcp_config: {
        command: 'node',
        args: [`\${__dirname}/${entryPoint}`],
        ...(configKeys.length > 0 && { env }),
      },
    },
    ...(tools.length > 0 && {
      tools: tools.map((tool) => ({
        name: tool.name,
        ...(tool.description !== undefined && { description: tool.description }),
      })),
    }),
    ...(hasPrompts && { prompts_generated: true }),
    compatibility: { runtimes: { node } },
    ...(configKeys.length > 0 && { user_config: userConfig }),
    ...authoredManifest,
  }
}

/** How the host asks the user for the value of a variable. */
function userConfigEntry(variable: string): JsonObject {
  const description = `The environment variable ${variable} of the server`
  return { type: 'string', title: variable, description, required: true, sensitive: true }
}

/**
 * Returns the author of a package as an object. In `package.json` it may also be a text such as
 * `Name <email> (URL)`, in which each part is optional.
 */
export function authorOf({ author }: JsonObject): JsonObject | undefined {
  if (typeof author === 'string') {
    const [, name = '', email, url] =
      /^([^<(]+?)?\s*(?:<([^>]*)>)?\s*(?:\(([^)]*)\))?$/.exec(author.trim()) ?? []
    return authorOf({ author: { name, email, url } })
  }
  if (!isObject(author) || typeof author['name'] !== 'string' || author['name'] === '')
    return undefined
  const { name, email, url } = author
  return {
    name,
    ...(typeof email === 'string' && /^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(email) && { email }),
    ...(isUrl(url) && { url }),
  }
}

/** The repository of a package. In `package.json`, it may also be a short text, such as `github:owner/name`. */
function repositoryOf({ repository }: JsonObject): JsonObject {
  const text = isObject(repository) ? repository['url'] : repository
  if (typeof text !== 'string') return {}
  const url = text
    .replace(/^git\+/, '')
    .replace(/^(?:github:)?(?=[\w.-]+\/[\w.-]+$)/, 'https://github.com/')
  return isUrl(url) ? { repository: { type: 'git', url } } : {}
}

function isUrl(value: unknown): value is string {
  return typeof value === 'string' && /^https?:$/.test(parseUrl(value)?.protocol ?? '')
}

function nonEmptyText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
