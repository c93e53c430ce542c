/**
 * The card of a server: derived from its definition, and validated when it is created.
 *
 * @see https://github.com/modelcontextprotocol/experimental-ext-server-card/blob/main/docs/discovery.md#mcp-server-cards
 */
import { requireKnown, type OptionNames } from '../patterns/known-options.ts'
import { isExtensionId, isProtocolKey } from '../protocol/meta.ts'
import type { Authenticator } from '../server/auth.ts'
import { definitionOf } from '../server/definition-of.ts'
import type { BaseServer } from '../server/server.ts'
import { CARD } from './card-shape.ts'
import { publishedUrlFaults } from './published-url.ts'
import { faultsOf, requireValid } from './shape.ts'
import { CARD_SCHEMA, type CardHeader, type CardRemote, type ServerCard } from './types.ts'

/** Options of {@link serverCard}. */
export interface ServerCardOptions extends Partial<
  Omit<ServerCard, '$schema' | 'remotes' | 'name'>
> {
  /**
   * The publisher's domain in reverse, a slash and a name, such as `com.example/travel`. The part
   * after the slash should be the name of the server. By default, the name of the server is used, which must
   * then have this form.
   */
  name?: string
  /**
   * The public endpoints: their URLs, or all members of a remote. A URL is an endpoint of Streamable HTTP
   * with all revisions of the server.
   *
   * @default []
   */
  remotes?: readonly (string | CardRemote)[]
  /** The option `auth` of the server. With it, the card names the header in which clients send credentials. */
  auth?: Authenticator
  /**
   * Whether the card may name hosts that are not on the public Internet.
   *
   * @default false
   */
  development?: boolean
}

/** The names of the options. The values have no meaning. */
const OPTION_NAMES: OptionNames<ServerCardOptions> = {
  name: 1,
  version: 1,
  title: 1,
  description: 1,
  websiteUrl: 1,
  repository: 1,
  icons: 1,
  remotes: 1,
  _meta: 1,
  auth: 1,
  development: 1,
}

/**
 * Creates the card of a server. The version, title, description, website and icons are taken from
 * the server unless you set them. Each URL in `remotes` is listed with the server's revisions. Cards contain
 * no tools, resources, prompts or capabilities, because clients read these from the server.
 *
 * Doubtful values, such as a version that is not semantic, are passed to the server's `onError`.
 *
 * @example
 * ```ts
 * import { serverCard } from 'edgewise/cards'
 * import { createServer } from 'edgewise/server'
 *
 * const server = createServer({ name: 'travel', version: '1.0.0', description: 'Books trips' })
 * export const card = serverCard(server, {
 *   name: 'com.example/travel',
 *   remotes: ['https://travel.example.com/mcp'],
 * })
 * ```
 *
 * @throws {TypeError} If the card is invalid, or contains a secret or a host that is not on the
 *   public Internet; the message lists all faults.
 * @see https://github.com/modelcontextprotocol/experimental-ext-server-card/blob/main/docs/discovery.md#mcp-server-cards
 */
export function serverCard(server: BaseServer, options: ServerCardOptions = {}): ServerCard {
  requireKnown('The server card', options, OPTION_NAMES)
  const { remotes = [], auth, development = false, ...members } = options
  const { info, revisions, report } = definitionOf(server)
  const [tokenHeader] = auth?.credentialHeaders ?? []
  const defaults = {
    ...(tokenHeader && { headers: [{ name: tokenHeader, isSecret: true }] }),
    supportedProtocolVersions: revisions.map(({ version }) => version),
  }
  const card: ServerCard = {
    description: '',
    ...info,
    ...members,
    $schema: CARD_SCHEMA,
    remotes: remotes.map((remote) =>
      typeof remote === 'string'
        ? { type: 'streamable-http', url: remote, ...defaults }
        : { ...defaults, ...remote },
    ),
  }
  const faults = faultsOf(card, CARD)
  requireValid('The server card', faults[0] ? faults : privacyFaults(card, development))
  const { name, version } = card
  // Expects a namespace with a dot, a slash, a name, and a version of three numbers
  if (!/\..*\/.* \d+\.\d+\.\d+/.test(`${name} ${version}`)) {
    report(new TypeError(`The card "${name} ${version}" lacks a domain or a semantic version`))
  }
  return card
}

/** Finds secrets, keys and addresses that must not be published. */
function privacyFaults({ remotes = [], _meta = {} }: ServerCard, development: boolean): string[] {
  const faults: string[] = []
  // Visits all inputs, however deep
  JSON.stringify(remotes, (key, input?: Partial<CardHeader>) => {
    // An empty value is no secret, and a value with variables is a template
    if (input?.isSecret && !/^$|\{\w+\}/.test(input.value ?? input.default ?? '')) {
      faults.push(`"${input.name ?? key}" is secret, and must not have a value`)
    }
    return input
  })
  for (const key in _meta) {
    if (!isExtensionId(key) || isProtocolKey(key))
      faults.push(`"${key}" must not be a key of "_meta"`)
  }
  for (const { url } of remotes) faults.push(...publishedUrlFaults(url, development))
  return faults
}
