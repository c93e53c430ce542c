/**
 * Checks the tools, resources and prompts of a server. Finds entries that hosts and model APIs refuse, and entries that
 * models find hard to use.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools
 */
import type { Client } from '../client/client.ts'
import { ProtocolError } from '../protocol/errors.ts'
import { isObject } from '../protocol/validate.ts'
import type { Prompt, Resource, Tool } from '../protocol/types.ts'
import { finding, type Finding } from './finding.ts'
import { schemaFindings } from './schemas.ts'

/** The limits of the rule `list-size`. */
const MAX_TOOLS = 100
const MAX_CHARACTERS = 100_000
/** How long a list may take, in milliseconds. */
const SLOW_MS = 2_000

/** The lists of a server. A list that the server does not offer is empty. */
export interface Catalog {
  readonly tools: readonly Tool[]
  readonly resources: readonly Resource[]
  readonly prompts: readonly Prompt[]
}

/** Reads the lists, and checks their entries. Also reports lists that are slow, or that cannot be read. */
export async function* checkCatalog(
  client: Client,
  signal?: AbortSignal,
  now: () => number = Date.now,
): AsyncGenerator<Finding> {
  const options = signal ? { signal } : {}
  const findings: Finding[] = []
  const readList = async <T>(
    method: string,
    capability: unknown,
    key: 'name' | 'uri',
    read: () => Promise<T[]>,
  ) => {
    if (!capability) return []
    const startedAt = now()
    try {
      const entries = await read()
      const elapsedMs = Math.round(now() - startedAt)
      if (elapsedMs > SLOW_MS)
        findings.push(finding('list-slow', `It took ${elapsedMs} ms`, method))
      const isNamed = (entry: T): boolean => isObject(entry) && typeof entry[key] === 'string'
      const unnamed = entries.find((entry) => !isNamed(entry))
      if (unnamed !== undefined) {
        const message = `The "${key}" of an entry is not a string: ${JSON.stringify(unnamed)}`
        findings.push(finding('list-fails', message, method))
      }
      return entries.filter(isNamed)
    } catch (error) {
      signal?.throwIfAborted()
      findings.push(finding('list-fails', describeFailure(error), method))
      return []
    }
  }
  const { tools, resources, prompts } = client.serverCapabilities ?? {}
  const catalog = {
    tools: await readList('tools/list', tools, 'name', () => client.listAllTools(options)),
    resources: await readList('resources/list', resources, 'uri', () =>
      client.listAllResources(options),
    ),
    prompts: await readList('prompts/list', prompts, 'name', () => client.listAllPrompts(options)),
  }
  yield* findings
  yield* catalogFindings(catalog)
}

/** Checks the entries of the lists. */
export function* catalogFindings({ tools, resources, prompts }: Catalog): Generator<Finding> {
  yield* duplicateFindings(
    'tool',
    tools.map(({ name }) => name),
  )
  yield* duplicateFindings(
    'resource',
    resources.map(({ uri }) => uri),
  )
  yield* duplicateFindings(
    'prompt',
    prompts.map(({ name }) => name),
  )
  const characters = JSON.stringify(tools).length
  if (tools.length > MAX_TOOLS || characters > MAX_CHARACTERS) {
    yield finding('list-size', `There are ${tools.length} tools with ${characters} characters`)
  }
  for (const tool of tools) yield* toolFindings(tool)
}

/** Finds the names or URIs that several entries of a list have. */
function* duplicateFindings(kind: string, names: readonly string[]): Generator<Finding> {
  const seen = new Set<string>()
  const repeated = new Set<string>()
  for (const name of names) {
    if (seen.has(name)) repeated.add(name)
    seen.add(name)
  }
  for (const name of repeated)
    yield finding('duplicate-name', `Several entries are the ${kind} "${name}"`)
}

function* toolFindings(tool: Tool): Generator<Finding> {
  const { name, annotations } = tool
  const description: unknown = tool.description ?? ''
  if (!/^[\w-]{1,64}$/.test(name)) yield finding('tool-name', `The name is "${name}"`, name)
  if (typeof description !== 'string') {
    yield finding('tool-description', `The description is ${JSON.stringify(description)}`, name)
  } else if (description.trim() === '')
    yield finding('tool-description', 'The description is missing', name)
  if (annotations?.readOnlyHint === undefined && annotations?.destructiveHint === undefined) {
    yield finding('tool-annotations', 'Both "readOnlyHint" and "destructiveHint" are missing', name)
  }
  yield* schemaFindings(tool)
  const schema: unknown = tool.inputSchema
  if (!isObject(schema) || schema.type !== 'object') {
    const actual = isObject(schema) ? `has the type ${JSON.stringify(schema.type)}` : 'is missing'
    return yield finding('tool-schema', `The input schema ${actual}`, name)
  }
  const combinators = ['oneOf', 'anyOf', 'allOf', 'not'].filter((keyword) => keyword in schema)
  if (combinators.length > 0) {
    yield finding(
      'model-schema',
      `The root of the input schema has ${combinators.join(' and ')}`,
      name,
    )
  }
  const external = externalReference(schema)
  if (external !== undefined)
    yield finding('model-schema', `The input schema refers to "${external}"`, name)
  const properties = Object.entries(isObject(schema.properties) ? schema.properties : {})
  const undescribed = properties.flatMap(([key, value]) => {
    return isDescribed(value) ? [] : [key]
  })
  if (undescribed.length > 0) {
    const names = undescribed.map((key) => `"${key}"`).join(', ')
    yield finding('parameter-description', `No description of ${names}`, name)
  }
}

/**
 * Whether a schema, or a schema that it combines, has a description. A schema with a `$ref` counts as described,
 * because the target of the `$ref` may have a description.
 */
function isDescribed(schema: unknown): boolean {
  if (!isObject(schema) || 'description' in schema || '$ref' in schema) return true
  return [schema.anyOf, schema.oneOf, schema.allOf]
    .flat()
    .some((member) => isObject(member) && isDescribed(member))
}

function describeFailure(error: unknown): string {
  if (error instanceof ProtocolError)
    return `The server answered with the error ${error.code}: ${error.message}`
  return error instanceof Error ? error.message : String(error)
}

/** Returns the first `$ref` to another document; `undefined` if there is none. */
function externalReference(schema: unknown): string | undefined {
  const pending = [schema]
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (typeof value !== 'object' || value === null) continue
    const { $ref } = value as { $ref?: unknown }
    if (typeof $ref === 'string' && !$ref.startsWith('#')) return $ref
    pending.push(...Object.values(value))
  }
  return undefined
}
