/**
 * The URLs that are published in cards and catalogs.
 *
 * @see https://github.com/modelcontextprotocol/experimental-ext-server-card/blob/main/docs/discovery.md#security-considerations
 */
import { isPublicName } from '../patterns/private-hosts.ts'
import type { ServerCard } from './types.ts'
import { parseUrl } from '../patterns/url.ts'

/**
 * Returns the faults of a URL that is to be published. The URL may contain variables.
 *
 * @param development Whether private hosts and plain HTTP are permitted.
 */
export function publishedUrlFaults(url: string, development: boolean): string[] {
  // Replaces each variable with an example: a port after a colon, otherwise a host
  const example = url
    .replace(/^\{/, 'https://{')
    .replaceAll(/(:?)\{\w+\}/g, (_, colon: string) => (colon ? ':1' : 'a.example'))
  // An invalid URL counts as a URL without a host
  const { protocol, hostname, username, password } = parseUrl(example) ?? new URL('a:')
  const isAllowed = development || (protocol === 'https:' && isPublicName(hostname))
  if (isAllowed && hostname && !username && !password) return []
  return [`"${url}" must be a public HTTPS URL without credentials`]
}

/**
 * The reserved address of a card: `/server-card` below its first Streamable HTTP endpoint without
 * variables; `undefined` if there is no such endpoint.
 */
export function cardUrlOf({ remotes = [] }: ServerCard): string | undefined {
  for (const { type, url } of remotes) {
    const [base = ''] = url.split(/[?#]/)
    if (type === 'sse' || base.includes('{')) continue
    const { href } = new URL(base)
    return `${href.replace(/\/$/, '')}/server-card`
  }
  return undefined
}
