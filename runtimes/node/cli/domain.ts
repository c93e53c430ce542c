/**
 * Finds the server that a domain lists, for commands whose server is given as a domain.
 */
import { parseUrl } from '#internal/patterns'
import { SdkError } from '../../../src/index.ts'
import type { Invocation, Options, ParsedInvocation, Target } from './arguments.ts'
import { interruption } from './interrupted.ts'
import { ConnectError } from './open.ts'
import { oneLine, print, printJson, printNotice, printRows } from './print.ts'
import { UsageError } from './usage.ts'

type ListedServer = Awaited<ReturnType<typeof findServers>>['cards'][number]

/**
 * Replaces a domain with the only server that it lists.
 *
 * @throws {ConnectError} If the domain lists no server or several, or no endpoint of the server can be used.
 */
export async function resolveDomain(invocation: ParsedInvocation): Promise<Invocation> {
  const { target, options } = invocation
  if (!('domain' in target)) return { ...invocation, target }
  const { domain } = target
  const { cards: servers } = await findServers(domain, options)
  const [server] = servers
  if (!server) throw new ConnectError(`"${domain}" lists no servers: specify the URL of one`)
  if (servers.length > 1) {
    const urls = servers.map((listed) => endpointsOf(listed).join(' or ') || listed.displayName)
    throw new ConnectError(`"${domain}" lists several servers; specify one: ${urls.join(', ')}`)
  }
  return { ...invocation, ...(await chooseEndpoint(server, options)) }
}

/**
 * Chooses an endpoint from a server's card. Returns the endpoint, and the options for connecting to it.
 *
 * @throws {ConnectError} If no endpoint of the card can be used, for example because all are on another domain.
 */
async function chooseEndpoint(
  server: ListedServer,
  options: Options,
): Promise<{ target: Target; options: Options }> {
  const { chooseRemote } = await import('../../../src/cards/index.ts')
  try {
    // Headers from the command line replace headers of the card, so the inputs of the replaced headers are not
    // required
    const givenNames = [...options.headers.keys()]
    const remotes = (server.card.remotes ?? []).map(({ headers = [], ...remote }) => {
      return {
        ...remote,
        headers: headers.filter(({ name }) => !givenNames.includes(name.toLowerCase())),
      }
    })
    const { domain } = server
    const { url, headers } = await chooseRemote(
      { domain, card: { ...server.card, remotes } },
      {
        values: options.inputs,
        // This program can read the user's files, so inputs may be paths of files
        filePaths: true,
        ...(isLocal(domain) && { allowUrl: ({ hostname }) => isLocal(hostname) }),
        ...(options.revision && { revisions: [options.revision] }),
      },
    )
    printNotice(`Using "${server.displayName}" at ${url}`)
    const allHeaders = new Headers(headers)
    options.headers.forEach((value, name) => allHeaders.set(name, value))
    return { target: { url, card: server.card }, options: { ...options, headers: allHeaders } }
  } catch (error) {
    if (!(error instanceof SdkError)) throw error
    throw new ConnectError(
      `Cannot use "${server.displayName}": ${error.message}${errorAdvice(error)}`,
    )
  }
}

/** What the user can do about an error; empty if there is no advice. */
function errorAdvice(error: SdkError): string {
  const { missing } = (error.data ?? {}) as { missing?: readonly string[] }
  if (missing) return `: pass ${missing.map((name) => `--input ${name}=…`).join(' ')}`
  return error.code === 'DENIED' ? ': if you trust it, specify its URL' : ''
}

/**
 * Finds the servers that a domain lists.
 *
 * @throws {ConnectError} If the catalog of the domain cannot be read.
 */
async function findServers(domain: string, { timeoutMs }: Pick<Options, 'timeoutMs'>) {
  const { discover } = await import('../../../src/cards/index.ts')
  const isLocalDomain = isLocal(new URL(`http://${domain}`).hostname)
  try {
    return await discover(isLocalDomain ? `http://${domain}` : domain, {
      signal: interruption,
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(isLocalDomain && { allowUrl: ({ hostname }) => isLocal(hostname) }),
    })
  } catch (error) {
    if (!(error instanceof SdkError) || interruption.aborted) throw error
    throw new ConnectError(`Cannot find the servers of ${domain}: ${error.message}`)
  }
}

/** Whether a text is only a domain, optionally with a port. */
function isDomain(text: string): boolean {
  const url = parseUrl(`http://${text}`)
  return url?.href === `http://${url?.host}/` && !/[/?#@]/.test(text)
}

/** Whether a host name is this machine. */
function isLocal(hostname: string): boolean {
  return /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname)
}

function endpointsOf({ card }: ListedServer): string[] {
  return (card.remotes ?? []).map(({ url }) => url)
}

/**
 * `edgewise discover`: lists the servers of a domain.
 *
 * @throws {UsageError} If the domain is missing or invalid.
 * @throws {ConnectError} If the catalog of the domain cannot be read.
 */
export async function discoverServers(
  [domain, ...others]: readonly string[],
  options: Pick<Options, 'json' | 'timeoutMs'>,
): Promise<number> {
  if (domain === undefined || others.length > 0 || !isDomain(domain)) {
    throw new UsageError('Specify a domain, such as "example.com"')
  }
  const { cards: servers, failures } = await findServers(domain, options)
  for (const { identifier = 'An entry', error } of failures) {
    printNotice(`${identifier} cannot be used: ${error.message}`)
  }
  if (options.json) printJson(servers.map(({ card }) => card))
  else if (servers.length === 0) print('No servers')
  else {
    printRows(
      servers.map((server) => {
        const description = server.description ?? ''
        return [server.displayName, oneLine([...endpointsOf(server), description].join('  '))]
      }),
    )
  }
  return 0
}
