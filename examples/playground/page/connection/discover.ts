/**
 * Finds a server by its domain. Loaded on demand, when the user enters a domain instead of a URL.
 *
 * @see https://github.com/modelcontextprotocol/experimental-ext-server-card/blob/main/docs/discovery.md
 */
import { chooseRemote, compareCard, discover } from 'edgewise/cards'
import type { Client } from 'edgewise/client'
import type { Timeline } from '../timeline/timeline.ts'

/** A server that a domain lists. */
export interface FoundServer {
  readonly url: string
  /** Adds to the timeline how the server differs from its card. */
  readonly compare: (client: Client) => void
}

/**
 * Finds the only server that a domain lists.
 *
 * @throws {SdkError} If the catalog of the domain cannot be read, or its card has no usable endpoint.
 * @throws {Error} If the domain lists no servers or several.
 */
export async function findServer(
  domain: string,
  signal: AbortSignal,
  timeline: Timeline,
): Promise<FoundServer> {
  const isLocal = ({ hostname }: URL): boolean => /^(?:localhost|127\.0\.0\.1)$/.test(hostname)
  const site = new URL(`http://${domain}`)
  const trust = isLocal(site) ? { allowUrl: isLocal } : {}
  const { cards } = await discover(isLocal(site) ? site.href : domain, { signal, ...trust })
  const [found] = cards
  if (!found) throw new Error(`“${domain}” lists no servers: enter the URL of one`)
  if (cards.length > 1) {
    const names = cards.map(({ displayName, card }) => {
      return [displayName, ...(card.remotes ?? []).map(({ url }) => url)].join(' ')
    })
    throw new Error(`“${domain}” lists several servers; enter the URL of one: ${names.join(', ')}`)
  }
  const { url } = await chooseRemote(found, trust)
  return {
    url,
    compare(client) {
      for (const { member, card, server } of compareCard(found.card, client)) {
        const given = `The card gives ${JSON.stringify(card)} as “${member}”`
        timeline.notice('warning', `${given}, but the server gives ${JSON.stringify(server)}`)
      }
    },
  }
}
