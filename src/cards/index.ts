/**
 * Server cards, which describe a server to clients that have not connected yet, and AI catalogs, which
 * list the cards of a domain.
 *
 * The extension is in Beta, and its exports may change in minor versions. It follows
 * modelcontextprotocol/experimental-ext-server-card at 8924e08 and Agent-Card/ai-catalog at be6803f.
 *
 * @see https://github.com/modelcontextprotocol/experimental-ext-server-card/blob/main/docs/discovery.md
 * @module
 */
export { cardHandler } from './card-handler.ts'
export { aiCatalog, catalogLink } from './catalog.ts'
export { chooseRemote } from './choose-remote.ts'
export { compareCard } from './compare-card.ts'
export { discover } from './discover.ts'
export { cardCache } from './fetch-document.ts'
export { fetchCard } from './read-card.ts'
export { fromRegistryEntry, requireRegistryEntry, toRegistryEntry } from './registry.ts'
export { serverCard } from './server-card.ts'
