/**
 * Named examples: arguments of calls that the user keeps in this browser, without secrets.
 *
 * @see https://developer.mozilla.org/docs/Web/API/Window/localStorage
 */
import { isObject, type JsonObject } from 'edgewise/browser'
import { resolve } from '../form/resolve.ts'
import { isSecretName, variableOf, withoutSecrets } from '../secrets.ts'
import { readStored, writeStored } from '../storage.ts'

/** Arguments with a name. */
export interface Example {
  name: string
  /** The kind of the entry, such as `tool`. */
  kind: string
  key: string
  arguments: JsonObject
}

/** The examples of a server, in the order in which they were kept. */
interface StoredServer {
  url: string
  examples: Example[]
}

const STORAGE_KEY = 'examples'
/** The maximum number of examples of one server. Beyond it, the oldest one is dropped. */
export const MAX_EXAMPLES = 100
/** The maximum number of servers with examples. */
const MAX_SERVERS = 50

/** The examples of an entry of a server. */
export function examplesOf(url: string, kind: string, key: string): Example[] {
  const examples = serverIn(load(), url)?.examples ?? []
  return examples.filter((example) => example.kind === kind && example.key === key)
}

/**
 * Keeps an example, in place of one with the same name. Members whose names or schemas mark them as secrets
 * are left out.
 *
 * @returns Whether it lasts longer than the page.
 */
export function keepExample(url: string, example: Example, schema?: unknown): boolean {
  const { kept } = omitSecrets(example.arguments, schema)
  const servers = load()
  const others = servers.filter((server) => server.url !== withoutSecrets(url))
  const examples = (serverIn(servers, url)?.examples ?? []).filter(
    ({ name, kind, key }) => name !== example.name || kind !== example.kind || key !== example.key,
  )
  examples.push({ ...example, arguments: kept })
  others.push({ url: withoutSecrets(url), examples: examples.slice(-MAX_EXAMPLES) })
  return save(others.slice(-MAX_SERVERS))
}

/** Removes an example. */
export function removeExample(url: string, { name, kind, key }: Example): void {
  const servers = load()
  const server = serverIn(servers, url)
  if (!server) return
  server.examples = server.examples.filter(
    (each) => each.name !== name || each.kind !== kind || each.key !== key,
  )
  save(servers.filter(({ examples }) => examples.length > 0))
}

/** Leaves out the members that may be secrets, at any depth. */
export function omitSecrets(
  value: JsonObject,
  schema?: unknown,
): { kept: JsonObject; omitted: string[] } {
  return replaceSecrets(value, schema, () => undefined)
}

/** Replaces the members that may be secrets with names in capitals, at any depth. */
export function maskSecrets(
  value: JsonObject,
  schema?: unknown,
): { kept: JsonObject; omitted: string[] } {
  return replaceSecrets(value, schema, variableOf)
}

/** @param replacement The value of a secret member instead; `undefined` leaves the member out. */
function replaceSecrets(
  value: JsonObject,
  schema: unknown,
  replacement: (name: string) => string | undefined,
): { kept: JsonObject; omitted: string[] } {
  const root = isObject(schema) ? schema : {}
  const omitted: string[] = []
  function copy(each: unknown, described: unknown, path: string): unknown {
    const { properties, items } = resolve(described, root)
    if (Array.isArray(each)) return each.map((item) => copy(item, items, `${path}[]`))
    return isObject(each) ? copyObject(each, properties, path) : each
  }
  function copyObject(each: JsonObject, properties: unknown, path: string): JsonObject {
    const kept: [string, unknown][] = []
    for (const [name, member] of Object.entries(each)) {
      const part = isObject(properties) && Object.hasOwn(properties, name) && properties[name]
      const inner = path === '' ? name : `${path}.${name}`
      const isSecret = isSecretName(name) || isSecretSchema(resolve(part, root))
      if (isSecret) omitted.push(inner)
      const shown = isSecret ? replacement(name) : copy(member, part, inner)
      if (shown !== undefined) kept.push([name, shown])
    }
    return Object.fromEntries(kept)
  }
  return { kept: copyObject(value, resolve(schema, root)['properties'], ''), omitted }
}

function isSecretSchema({ format, writeOnly }: JsonObject): boolean {
  return format === 'password' || writeOnly === true
}

function serverIn(servers: readonly StoredServer[], url: string): StoredServer | undefined {
  return servers.find((server) => server.url === withoutSecrets(url))
}

function load(): StoredServer[] {
  try {
    const stored: unknown = JSON.parse(readStored(STORAGE_KEY) ?? '')
    return Array.isArray(stored) ? stored.filter(isServer) : []
  } catch {
    return []
  }
}

function save(servers: readonly StoredServer[]): boolean {
  return writeStored(STORAGE_KEY, JSON.stringify(servers))
}

function isServer(value: unknown): value is StoredServer {
  if (!isObject(value) || typeof value['url'] !== 'string') return false
  const { examples } = value
  return Array.isArray(examples) && examples.every(isExample)
}

function isExample(value: unknown): value is Example {
  return (
    isObject(value) &&
    [value['name'], value['kind'], value['key']].every((each) => typeof each === 'string') &&
    isObject(value['arguments'])
  )
}
