/**
 * Adapts the server's messages to the client's revision, so that the client receives only what that
 * revision defines. Everything else is removed, or expressed with what the revision defines.
 *
 * @see https://modelcontextprotocol.io/docs/2026-07-28/learn/versioning
 */
import { wellFormedJson } from './well-formed-json.ts'
import { text } from './content.ts'
import { mapMember, without } from './copy.ts'
import { degradeContent, degradeItem, type Item } from './degrade-content.ts'
import { degradeMeta } from './degrade-meta.ts'
import {
  COMPLETIONS_CAPABILITY,
  ICONS,
  ITEM_METADATA,
  PROGRESS_MESSAGES,
  STRUCTURED_CONTENT,
  TOOL_ANNOTATIONS,
  supports,
} from './revision-features.ts'
import type { RevisionFacts } from './revisions.ts'
import type {
  CallToolResult,
  GetPromptResult,
  ListToolsResult,
  Result,
  ServerCapabilities,
  Tool,
  JsonObject,
} from './types.ts'
import { isObject } from './validate.ts'

/** The members of results that 2026-07-28 introduced. */
const MODERN_MEMBERS = ['resultType', 'ttlMs', 'cacheScope']

/** The member of a result that contains the items, for each method that lists or reads items. */
const ITEM_LISTS: { readonly [method: string]: string } = {
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
  'resources/read': 'contents',
  'prompts/list': 'prompts',
}

interface ItemLists {
  [member: string]: (Item & { arguments?: Item[] })[] | undefined
}

/**
 * Adapts the result of a client's request; the same object if nothing changes, as is common with the two
 * newest revisions. The result of `initialize` is adapted where it is created.
 */
export function degradeResult(method: string, result: Result, revision: RevisionFacts): Result {
  const degraded = degradeToolsResult(method, result, revision)
  if (method === 'prompts/get') {
    return mapMember(degraded as GetPromptResult, 'messages', (message) => {
      const content = degradeContent(message.content, revision)
      return content === message.content ? message : { ...message, content }
    })
  }
  const member = ITEM_LISTS[method]
  if (member === undefined) return degraded
  // Of all items, only prompts have `arguments`
  return mapMember(degraded as Result & ItemLists, member, (item) =>
    mapMember(degradeItem(item, revision), 'arguments', (argument) =>
      degradeItem(argument, revision),
    ),
  )
}

/** Like {@link degradeResult}, for a server that offers tools only. */
export function degradeToolsResult(
  method: string,
  result: Result,
  revision: RevisionFacts,
): Result {
  if (method === 'tools/list') {
    result = mapMember(result as ListToolsResult, 'tools', (tool) => degradeTool(tool, revision))
  }
  if (revision.era === 'modern') return result
  const degraded = degradeMeta(without(result, MODERN_MEMBERS), revision)
  return method === 'tools/call'
    ? degradeCallToolResult(degraded as CallToolResult, revision)
    : degraded
}

/** Adapts the params of a notification to the client; the same object if nothing changes. */
export function degradeNotification(
  method: string,
  params: JsonObject | undefined,
  revision: RevisionFacts,
): JsonObject | undefined {
  const degraded = params && degradeMeta(params, revision)
  const mustOmitMessage =
    degraded && method === 'notifications/progress' && !supports(revision, PROGRESS_MESSAGES)
  return mustOmitMessage ? without(degraded, ['message']) : degraded
}

/** Adapts the server's capabilities. 2025-03-26 introduced `completions`; `tasks` exists only in 2025-11-25. */
export function degradeServerCapabilities(
  capabilities: ServerCapabilities,
  revision: RevisionFacts,
): ServerCapabilities {
  const degraded = revision.tasks === 'core' ? capabilities : without(capabilities, ['tasks'])
  return supports(revision, COMPLETIONS_CAPABILITY) ? degraded : without(degraded, ['completions'])
}

/**
 * Adapts the result of a tool call. Structured content that the revision does not allow is removed. If the result
 * has no other content, the structured content becomes text.
 */
function degradeCallToolResult(result: CallToolResult, revision: RevisionFacts): CallToolResult {
  const { structuredContent } = result
  const isSupported =
    structuredContent === undefined ||
    (supports(revision, STRUCTURED_CONTENT) && isObject(structuredContent))
  const degraded = isSupported ? result : without(result, ['structuredContent'])
  if (!isSupported && degraded.content.length === 0) {
    return { ...degraded, content: [text(wellFormedJson(structuredContent))] }
  }
  // A revision with icons has all other features of content too
  return supports(revision, ICONS)
    ? degraded
    : mapMember(degraded, 'content', (block) => degradeContent(block, revision))
}

/** Adapts a tool. 2025-06-18 introduced output schemas and the title, 2025-03-26 annotations. */
export function degradeTool(tool: Tool, revision: RevisionFacts): Tool {
  let degraded = revision.tasks === 'core' ? tool : without(tool, ['execution'])
  if (revision.era === 'modern') return degraded
  if (!supports(revision, STRUCTURED_CONTENT) || degraded.outputSchema?.type !== 'object') {
    degraded = without(degraded, ['outputSchema'])
  }
  degraded = withObjectProperties(degraded, 'inputSchema')
  if (degraded.outputSchema) degraded = withObjectProperties(degraded, 'outputSchema')
  // In 2025-03-26, the title is one of the annotations
  if (!supports(revision, TOOL_ANNOTATIONS)) degraded = without(degraded, ['annotations'])
  else if (!supports(revision, ITEM_METADATA) && degraded.title !== undefined) {
    degraded = { ...degraded, annotations: { title: degraded.title, ...degraded.annotations } }
  }
  return degradeItem(degraded, revision)
}

/**
 * Revisions with sessions do not allow booleans as schemas of properties, so `true` becomes `{}`, and `false`
 * becomes `{"not":{}}`.
 */
function withObjectProperties(tool: Tool, name: 'inputSchema' | 'outputSchema'): Tool {
  const schema = tool[name]
  const properties: unknown = schema?.properties
  if (!isObject(properties)) return tool
  const entries = Object.entries(properties)
  if (!entries.some(([, property]) => typeof property === 'boolean')) return tool
  const objects = entries.map(([key, property]) => {
    if (property === true) return [key, {}]
    return [key, property === false ? { not: {} } : property]
  })
  return { ...tool, [name]: { ...schema, properties: Object.fromEntries(objects) as JsonObject } }
}
