/**
 * Entries of the MCP registry, `server.json`, and their conversion from and to server cards.
 *
 * @see https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json
 */
import { SdkError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import { INPUT_WITH_VARIABLES, NAMED_INPUTS, REMOTE, SHARED } from './card-shape.ts'
import { requireCard } from './read-card.ts'
import { BOOLEAN, faultsOf, requireValid, TEXT, URI, type Shape } from './shape.ts'
import { CARD_SCHEMA, type CardRemote, type ServerCard } from './types.ts'

const REGISTRY_SCHEMA =
  'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'

/**
 * An entry of the MCP registry, which is published as `server.json`.
 *
 * @see https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json
 */
export interface RegistryEntry extends Omit<ServerCard, 'remotes'> {
  remotes?: Omit<CardRemote, 'supportedProtocolVersions'>[]
  /** How to install and start the server. Cards cannot describe that. */
  packages?: JsonObject[]
}

/** The prefix of the registry's keys in `_meta`. */
const REGISTRY_PREFIX = 'io.modelcontextprotocol.registry/'

const HTTP_URL = /^https?:\/\/\S+$/

const ICON: Shape = {
  'src!': /^(?=.{1,255}$)https:\/\/\S+$/su,
  mimeType: /^image\/(?:png|jpeg|jpg|svg\+xml|webp)$/,
  sizes: [/^(?:\d+x\d+|any)$/],
  theme: /^(?:light|dark)$/,
}

const REMOTE_OVER_HTTP: Shape = { '&': REMOTE, 'url!': HTTP_URL }

const ARGUMENT: Shape = { 'type!': /^(?:positional|named)$/ }
const POSITIONAL: Shape = { '&': INPUT_WITH_VARIABLES, valueHint: TEXT, isRepeated: BOOLEAN }
const NAMED: Shape = { '&': INPUT_WITH_VARIABLES, 'name!': TEXT, isRepeated: BOOLEAN }

/** The members that any package can have. `packageFaults` checks those that depend on a type. */
const PACKAGE: Shape = {
  'registryType!': TEXT,
  'identifier!': TEXT,
  'transport!': { 'type!': /^(?:stdio|streamable-http|sse)$/ },
  registryBaseUrl: URI,
  runtimeHint: TEXT,
  environmentVariables: NAMED_INPUTS,
  version: /^(?!latest$)[^]/,
  fileSha256: /^[a-f\d]{64}$/,
  runtimeArguments: [ARGUMENT],
  packageArguments: [ARGUMENT],
}

const ENTRY: Shape = {
  '&': SHARED,
  $schema: URI,
  icons: [ICON],
  remotes: [REMOTE_OVER_HTTP],
  packages: [PACKAGE],
  _meta: { 'io.modelcontextprotocol.registry/publisher-provided': {} },
}

/**
 * Validates an entry of the registry by its schema of 2025-12-11, which this package contains.
 *
 * @example
 * ```ts
 * import { readFileSync } from 'node:fs'
 * import { fromRegistryEntry, requireRegistryEntry } from 'edgewise/cards'
 *
 * const entry = requireRegistryEntry(JSON.parse(readFileSync('server.json', 'utf8')))
 * const card = fromRegistryEntry(entry)
 * ```
 *
 * @throws {TypeError} If the entry is invalid; the message lists all faults.
 * @see https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json
 */
export function requireRegistryEntry(value: unknown): RegistryEntry {
  const faults = faultsOf(value, ENTRY)
  if (faults.length === 0) faults.push(...packageFaults((value as RegistryEntry).packages ?? []))
  requireValid('The entry of the registry', faults)
  return value as RegistryEntry
}

/** Checks the members that depend on the type of a transport or an argument. */
function packageFaults(packages: readonly JsonObject[]): string[] {
  return packages.flatMap((packageEntry, at) => {
    const path = `packages[${at}]`
    const { transport, runtimeArguments = [], packageArguments = [] } = packageEntry
    const isLocal = isObject(transport) && transport.type === 'stdio'
    const remoteTransport: Shape = { 'url!': HTTP_URL, headers: NAMED_INPUTS }
    return [
      ...(isLocal ? [] : faultsOf(transport, remoteTransport, `${path}.transport`)),
      ...argumentFaults(runtimeArguments, `${path}.runtimeArguments`),
      ...argumentFaults(packageArguments, `${path}.packageArguments`),
    ]
  })
}

function argumentFaults(values: unknown, path: string): string[] {
  return (Array.isArray(values) ? values : []).flatMap((value: JsonObject, at) => {
    const name = `${path}[${at}]`
    if (value.type === 'named') return faultsOf(value, NAMED, name)
    const hasValue = value.valueHint !== undefined || value.value !== undefined
    const faults = hasValue ? [] : [`"${name}" must have "valueHint" or "value"`]
    return [...faults, ...faultsOf(value, POSITIONAL, name)]
  })
}

/**
 * Converts a card to an entry of the registry.
 *
 * @example
 * ```ts
 * import { serverCard, toRegistryEntry } from 'edgewise/cards'
 * import { createServer } from 'edgewise/server'
 *
 * const server = createServer({ name: 'travel', version: '1.0.0', description: 'Books trips' })
 * const card = serverCard(server, { name: 'com.example/travel', remotes: ['https://example.com/mcp'] })
 * const { entry, dropped } = toRegistryEntry(card)
 * console.log(JSON.stringify(entry), dropped)
 * ```
 *
 * @param packages How to install the server, in the form of the registry.
 * @returns The entry, and the paths of the card's members that the entry lacks, because the registry does
 *   not support them.
 * @throws {TypeError} If the packages are invalid.
 * @see https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json
 */
export function toRegistryEntry(
  card: ServerCard,
  packages?: readonly JsonObject[],
): { entry: RegistryEntry; dropped: string[] } {
  const dropped: string[] = []
  const { $schema: _, _meta, icons = [], remotes = [], ...shared } = card
  if (_meta) dropped.push('_meta')
  const entry: RegistryEntry = { $schema: REGISTRY_SCHEMA, ...shared }
  const keptIcons = icons.filter((icon, at) => isSupported(faultsOf(icon, ICON), `icons[${at}]`))
  const keptRemotes = remotes.flatMap((remote, at) => {
    const path = `remotes[${at}]`
    if (!isSupported(faultsOf(remote, REMOTE_OVER_HTTP), path)) return []
    const { supportedProtocolVersions, ...supported } = remote
    if (supportedProtocolVersions) dropped.push(`${path}.supportedProtocolVersions`)
    return [supported]
  })
  if (keptIcons.length > 0) entry.icons = keptIcons
  if (keptRemotes.length > 0) entry.remotes = keptRemotes
  if (packages) entry.packages = [...packages]
  return { entry: requireRegistryEntry(entry), dropped }

  /** Whether a member has no faults. A member with faults is recorded as dropped. */
  function isSupported(faults: readonly string[], path: string): boolean {
    if (faults.length > 0) dropped.push(path)
    return faults.length === 0
  }
}

/**
 * Converts an entry of the registry to a card, without its packages and the registry's metadata.
 *
 * @throws {TypeError} If the entry is invalid.
 * @throws {SdkError} `UNSUPPORTED` if the entry has no remote, so that the server can only be installed.
 * @see https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json
 */
export function fromRegistryEntry(entry: RegistryEntry): ServerCard {
  const { packages: _, _meta = {}, ...shared } = requireRegistryEntry(entry)
  if (!shared.remotes?.length) {
    throw new SdkError('UNSUPPORTED', `"${entry.name}" has no remote: it can only be installed`)
  }
  const otherMeta = Object.entries(_meta).filter(([key]) => !key.startsWith(REGISTRY_PREFIX))
  return requireCard({
    ...shared,
    $schema: CARD_SCHEMA,
    ...(otherMeta.length > 0 && { _meta: Object.fromEntries(otherMeta) }),
  })
}
