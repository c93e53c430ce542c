/**
 * Finds a server by its domain. Loaded on demand, when the user enters a domain instead of a URL.
 *
 * @see https://github.com/modelcontextprotocol/experimental-ext-server-card/blob/main/docs/discovery.md
 */
import { chooseRemote, compareCard, discover } from 'edgewise/cards'
import { pageFetch, type Fetch } from 'edgewise/browser'
import type { Client } from 'edgewise/client'
import { explainError, type Explanation } from '../explanation.ts'
import type { Timeline } from '../timeline/timeline.ts'

/** A server that a domain lists. */
export interface FoundServer {
  readonly url: string
  /** Adds to the timeline how the server differs from its card. */
  readonly compare: (client: Client) => void
}

/** Finds the only server that a domain lists. Explains why there is none, or which ones there are. */
export async function findServer(
  domain: string,
  signal: AbortSignal,
  timeline: Timeline,
): Promise<FoundServer | Explanation> {
  timeline.mark(`Looking for the servers of ${domain}`)
  const found = await lookUp(domain, signal, timeline).catch(explainError)
  if ('headline' in found && !signal.aborted) timeline.mark(found.headline)
  return found
}

async function lookUp(
  domain: string,
  signal: AbortSignal,
  timeline: Timeline,
): Promise<FoundServer | Explanation> {
  const isLocal = ({ hostname }: URL): boolean => /^(?:localhost|127\.0\.0\.1)$/.test(hostname)
  const site = new URL(`http://${domain}`)
  const trust = isLocal(site) ? { allowUrl: isLocal } : {}
  const { origin } = isLocal(site) ? site : new URL(`https://${domain}`)
  const fetch = pageFetch({ fetch: noted(timeline) })
  const byHand = {
    advice: ['Enter the whole address of the endpoint. It often ends in /mcp.'],
    urls: [`${origin}/mcp`],
  }
  const discovered = await discover(origin, { signal, fetch, ...trust }).catch(explainError)
  if ('headline' in discovered) {
    return { ...discovered, ...byHand, advice: [...discovered.advice, ...byHand.advice] }
  }
  const { cards } = discovered
  const [found] = cards
  if (!found) {
    return {
      headline: `“${domain}” lists no servers: enter the URL of one`,
      why: 'The domain has no catalog of servers, at /.well-known/ai-catalog.json.',
      ...byHand,
    }
  }
  if (cards.length > 1) {
    const names = cards.map(({ displayName, card }) => {
      return [displayName, ...(card.remotes ?? []).map(({ url }) => url)].join(' ')
    })
    return {
      headline: `“${domain}” lists several servers; enter the URL of one: ${names.join(', ')}`,
      advice: [],
      urls: cards.flatMap(({ card }) => (card.remotes ?? []).map(({ url }) => url)).slice(0, 5),
    }
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

/** A `fetch` that adds each request and its response to the timeline. */
function noted(timeline: Timeline): Fetch {
  return async (url, init) => {
    const request = `${init.method ?? 'GET'} ${url}`
    try {
      const response = await fetch(url, init)
      timeline.notice('info', `${request}: HTTP ${response.status}`)
      return response
    } catch (error) {
      timeline.notice('error', `${request}: ${String(error)}`)
      throw error
    }
  }
}
