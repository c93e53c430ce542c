/**
 * Compares a card with the server that it describes.
 *
 * @see https://github.com/modelcontextprotocol/experimental-ext-server-card/blob/main/docs/discovery.md#consistency-with-runtime-behavior
 */
import type { Implementation } from '../protocol/types.ts'
import { canonicalJson } from '../patterns/canonical-json.ts'
import type { ServerCard } from './types.ts'

/** A member in which a card differs from its server. */
export interface CardDifference {
  readonly member: string
  /** The value in the card. */
  readonly card: unknown
  /** The value of the server. Use this value. */
  readonly server: unknown
}

const MEMBERS = ['version', 'title', 'description', 'websiteUrl', 'icons'] as const

/**
 * Compares a card with the server that a client is connected to. Members that are missing in the card or in
 * the server's information are skipped. A difference is not an error: use the values of the server, and
 * consider reporting the difference.
 *
 * @example
 * ```ts
 * import { chooseRemote, compareCard, fetchCard } from 'edgewise/cards'
 * import { connect } from 'edgewise/client'
 *
 * const found = await fetchCard('https://example.com/mcp/server-card')
 * const { url, headers } = await chooseRemote(found)
 * await using client = await connect(url, { headers })
 * for (const { member, card, server } of compareCard(found.card, client)) {
 *   console.warn(`The card says ${member} is ${card}, but it is ${server}`)
 * }
 * ```
 *
 * @see https://github.com/modelcontextprotocol/experimental-ext-server-card/blob/main/docs/discovery.md#consistency-with-runtime-behavior
 */
export function compareCard(
  card: ServerCard,
  client: { readonly serverInfo: Implementation | undefined; readonly revision: string },
): CardDifference[] {
  const { serverInfo, revision } = client
  const differences: CardDifference[] = []
  const name = serverInfo?.name
  // The name of a card has a namespace, as in `com.example/travel`, which the server's name may omit
  if (name !== undefined && name !== card.name && name !== card.name.split('/')[1]) {
    differences.push({ member: 'name', card: card.name, server: name })
  }
  for (const member of MEMBERS) {
    const claimed = card[member]
    const actual = serverInfo?.[member]
    const isInBoth = claimed !== undefined && actual !== undefined
    if (isInBoth && canonicalJson(claimed) !== canonicalJson(actual)) {
      differences.push({ member, card: claimed, server: actual })
    }
  }
  const versionLists = (card.remotes ?? []).map((remote) => remote.supportedProtocolVersions)
  const versions = versionLists.flatMap((list) => list ?? [])
  // A remote without a list may support any revision
  if (versions.length > 0 && !versionLists.includes(undefined) && !versions.includes(revision)) {
    differences.push({ member: 'revision', card: versions, server: revision })
  }
  return differences
}
