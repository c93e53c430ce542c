/**
 * Server cards and AI catalogs, as they are published.
 *
 * @see https://github.com/modelcontextprotocol/experimental-ext-server-card/blob/main/docs/discovery.md
 */
import type { Icon, JsonObject } from '../protocol/types.ts'

/** The `$schema` of server cards. */
export const CARD_SCHEMA =
  'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json'
/** The media type of a server card. */
export const CARD_TYPE = 'application/mcp-server-card+json'
/** The media type of an AI catalog. */
export const CATALOG_TYPE = 'application/ai-catalog+json'
/** Where a domain publishes its catalog. */
export const CATALOG_PATH = '/.well-known/ai-catalog.json'

/** Where the source code of a server is. */
export interface CardRepository {
  url: string
  /** The host of the repository, such as `github`. */
  source: string
  /** The folder of the server, relative to the root of the repository. */
  subfolder?: string
  /** The id of the repository at its host. */
  id?: string
}

/** A value that the user of a server provides, or that the card sets. */
export interface CardInput {
  description?: string
  /** @default false */
  isRequired?: boolean
  /**
   * Whether the value must not be shown, logged or stored.
   *
   * @default false
   */
  isSecret?: boolean
  /** @default 'string' */
  format?: 'string' | 'number' | 'boolean' | 'filepath'
  default?: string
  placeholder?: string
  /** A fixed value, which the user cannot change. */
  value?: string
  /** The only valid values. */
  choices?: string[]
}

/** A header of requests to the server. */
export interface CardHeader extends CardInput {
  name: string
  /** The variables in `value`, by name. */
  variables?: { [name: string]: CardInput }
}

/** An endpoint of a server. */
export interface CardRemote {
  type: 'streamable-http' | 'sse'
  /** The URL, which may contain variables in braces. */
  url: string
  headers?: CardHeader[]
  /** The variables in `url`, by name. */
  variables?: { [name: string]: CardInput }
  /** The protocol revisions that the endpoint supports; unknown if absent. */
  supportedProtocolVersions?: string[]
}

/**
 * What a server is and how to connect to it, published for clients that have not connected yet.
 *
 * @see https://github.com/modelcontextprotocol/experimental-ext-server-card/blob/main/docs/discovery.md#mcp-server-cards
 */
export interface ServerCard {
  /** Absent in some published cards. */
  $schema?: string
  /** The publisher's domain in reverse, a slash and a name, such as `com.example/weather`. */
  name: string
  version: string
  /** At most 100 characters. */
  description: string
  title?: string
  websiteUrl?: string
  repository?: CardRepository
  icons?: Icon[]
  remotes?: CardRemote[]
  _meta?: JsonObject
}

/** The members of every entry of an {@link AiCatalog}. */
interface CatalogEntryBase {
  identifier: string
  /** The media type of the listed document. */
  type: string
  displayName?: string
  description?: string
  tags?: string[]
  version?: string
  /** When the entry changed, in ISO 8601. */
  updatedAt?: string
  /** `sha256:` and the digest of the document, in lower-case hexadecimal. */
  digest?: string
  /** Unverified statements about who vouches for the entry. */
  trustManifests?: unknown
  extensions?: JsonObject
}

/**
 * An entry of an {@link AiCatalog}: the address of a document, or the document itself.
 *
 * @see https://github.com/Agent-Card/ai-catalog
 */
export type CatalogEntry = CatalogEntryBase & ({ url: string } | { data: unknown })

/**
 * A list of servers, agents and other catalogs that a domain publishes.
 *
 * @see https://github.com/Agent-Card/ai-catalog
 */
export interface AiCatalog {
  specVersion: string
  entries: CatalogEntry[]
  host?: { displayName: string; identifier?: string; documentationUrl?: string; logoUrl?: string }
  extensions?: JsonObject
  /** An unverified signature. */
  signature?: unknown
}
