/**
 * Named examples: arguments of calls that the user keeps in this browser, without secrets.
 *
 * @see https://developer.mozilla.org/docs/Web/API/Window/localStorage
 */
import { isObject, type JsonObject } from 'edgewise/browser'
import { isSecretName, withoutSecrets } from '../secrets.ts'

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
 * @returns The names of the members that were left out.
 */
export function keepExample(url: string, example: Example, schema?: unknown): string[] {
  const { kept, omitted } = omitSecrets(example.arguments, schema)
  const servers = load()
  const others = servers.filter((server) => server.url !== withoutSecrets(url))
  const examples = (serverIn(servers, url)?.examples ?? []).filter(
    ({ name, kind, key }) => name !== example.name || kind !== example.kind || key !== example.key,
  )
  examples.push({ ...example, arguments: kept })
  others.push({ url: withoutSecrets(url), examples: examples.slice(-MAX_EXAMPLES) })
  save(others.slice(-MAX_SERVERS))
  return omitted
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
  const omitted: string[] = []
  const kept = withoutSecretMembers(value, schema, '', omitted)
  return { kept: isObject(kept) ? kept : {}, omitted }
}

function withoutSecretMembers(
  value: unknown,
  schema: unknown,
  path: string,
  omitted: string[],
): unknown {
  const { properties, items } = isObject(schema) ? schema : {}
  if (Array.isArray(value)) {
    return value.map((item: unknown) => withoutSecretMembers(item, items, `${path}[]`, omitted))
  }
  if (!isObject(value)) return value
  const kept: [string, unknown][] = []
  for (const [name, member] of Object.entries(value)) {
    const part = isObject(properties) && Object.hasOwn(properties, name) && properties[name]
    const inner = path === '' ? name : `${path}.${name}`
    if (isSecretName(name) || isSecretSchema(part)) omitted.push(inner)
    else kept.push([name, withoutSecretMembers(member, part, inner, omitted)])
  }
  return Object.fromEntries(kept)
}

function isSecretSchema(schema: unknown): boolean {
  return isObject(schema) && (schema['format'] === 'password' || schema['writeOnly'] === true)
}

function serverIn(servers: readonly StoredServer[], url: string): StoredServer | undefined {
  return servers.find((server) => server.url === withoutSecrets(url))
}

function load(): StoredServer[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '')
    return Array.isArray(stored) ? stored.filter(isServer) : []
  } catch {
    return []
  }
}

function save(servers: readonly StoredServer[]): void {
  localStorage.setItem(STORAGE_KEY, JSON.stringify(servers))
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
