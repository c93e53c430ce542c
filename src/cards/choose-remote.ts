/**
 * Chooses the endpoint of a card to connect to.
 *
 * @see https://github.com/modelcontextprotocol/experimental-ext-server-card/blob/main/docs/discovery.md#client-discovery-flow
 */
import { revisions, type Revision } from '../protocol/revisions.ts'
import { SdkError } from '../protocol/errors.ts'
import { fillRemote, type FilledRemote, type FillOptions } from './fill-remote.ts'
import type { FoundCard } from './read-card.ts'
import type { CardRemote } from './types.ts'
import { requireAllowed, type AllowUrl } from './url-policy.ts'

/** Options of {@link chooseRemote}. */
export interface RemoteOptions extends FillOptions {
  /**
   * Decides whether to connect to a URL. By default, only public hosts are allowed, and of these only the domain
   * that you asked for and the hosts below it.
   */
  allowUrl?: AllowUrl
  /**
   * The revisions that the client supports. By default all.
   */
  revisions?: readonly Revision[]
}

/**
 * Chooses an endpoint of a card, and fills in its variables and headers. Chooses the first Streamable HTTP
 * endpoint that lists a revision of the client, or lists no revisions. If there is none, chooses the first
 * such HTTP+SSE endpoint. Pass the result to `connect`, which negotiates the revision itself.
 *
 * @example
 * ```ts
 * import { chooseRemote, discover } from 'edgewise/cards'
 * import { connect } from 'edgewise/client'
 *
 * const { cards } = await discover('example.com')
 * for (const found of cards) {
 *   const { url, headers } = await chooseRemote(found, { values: { key: 'a-key' } })
 *   await using client = await connect(url, { headers })
 * }
 * ```
 *
 * @param found A card that was found, or a card and the domain that you trust.
 * @throws {SdkError} `UNSUPPORTED` if the card has no endpoint; `VERSION_MISMATCH` if no endpoint has a
 *   revision of the client; `INVALID_USE` if values are missing, which `data.missing` names, or invalid;
 *   `DENIED` if the URL may not be used.
 * @see https://github.com/modelcontextprotocol/experimental-ext-server-card/blob/main/docs/discovery.md#client-discovery-flow
 */
export async function chooseRemote(
  { card, domain }: Pick<FoundCard, 'card' | 'domain'>,
  options: RemoteOptions = {},
): Promise<FilledRemote> {
  const { allowUrl, revisions: supported = revisions.map(({ version }) => version) } = options
  const { name, remotes = [] } = card
  const isUsable = ({ supportedProtocolVersions: versions }: CardRemote): boolean => {
    return !versions || supported.some((version) => versions.includes(version))
  }
  const usable = remotes.filter(isUsable)
  const remote = usable.find(({ type }) => type === 'streamable-http') ?? usable[0]
  if (!remote) {
    if (remotes.length === 0) throw new SdkError('UNSUPPORTED', `"${name}" has no endpoint`)
    const listedVersions = remotes.flatMap(
      ({ supportedProtocolVersions = [] }) => supportedProtocolVersions,
    )
    throw new SdkError(
      'VERSION_MISMATCH',
      `"${name}" supports ${listedVersions.join(', ')}, and the client ${supported.join(', ')}`,
    )
  }
  const filledRemote = fillRemote(remote, options)
  const url = await requireAllowed(filledRemote.url, domain, allowUrl)
  return { ...filledRemote, url: url.href }
}
