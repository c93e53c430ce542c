/**
 * The options of the page's clients, from the settings of a server.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/lifecycle
 */
import { findRevision, type Root } from 'edgewise/browser'
import { connect, type AuthProvider, type Client, type ConnectOptions } from 'edgewise/client'
import type { FailureContext } from '../explanation.ts'
import { isSecretName } from '../secrets.ts'
import type { Settings } from '../settings/settings.ts'
import type { Store } from '../store.ts'
import type { Connection } from './connection.ts'

/** Returns the headers that the settings add to every request. */
export function requestHeaders({ headers, token }: Settings): Record<string, string> {
  const named = headers.filter(({ name }) => name !== '')
  return {
    ...Object.fromEntries(named.map(({ name, value }) => [name, value])),
    ...(token !== '' && { authorization: `Bearer ${token}` }),
  }
}

/** Whether the settings contain credentials, so that nobody has to sign in. */
export function hasCredentials(settings: Settings): boolean {
  return Object.keys(requestHeaders(settings)).some(isSecretName)
}

/** Returns what is known about every failure of a connection. */
export function failureContext(
  { url, lacksSession }: Pick<Connection, 'url' | 'lacksSession'>,
  settings: Settings,
): FailureContext {
  return {
    hasCredentials: hasCredentials(settings),
    ...(lacksSession && { lacksSession: url }),
  }
}

/** Returns the roots of the settings. Their names are the last parts of their paths. */
export function rootsOf({ roots }: Settings): Root[] {
  return roots.map((uri) => ({ uri, name: uri.replace(/\/$/, '').split('/').at(-1) ?? uri }))
}

/** Returns the options that all clients of a server share. */
export function clientOptions(settings: Settings, auth: AuthProvider | undefined): ConnectOptions {
  const revision = findRevision(settings.revision)?.version
  return {
    info: { name: 'edgewise-playground', title: 'Edgewise playground', version: '1.0.0' },
    headers: requestHeaders(settings),
    capabilities: { elicitation: { form: {}, url: {} } },
    ...(auth && !hasCredentials(settings) && { auth }),
    ...(revision && { revision }),
    ...(settings.timeoutMs && { timeoutMs: settings.timeoutMs }),
  }
}

/** The workspace of a server. */
export interface ClientOwner {
  readonly settings: Store<Settings>
  readonly connection: Connection | undefined
}

/** Which client to open. */
export interface ClientRequest extends Pick<ConnectOptions, 'revision' | 'signal' | 'fetch'> {}

/**
 * Opens another client of a connected server, with the same settings and sign-in. It shows no questions.
 *
 * @throws {SdkError | ProtocolError} If connecting fails.
 */
export function openClient(workspace: ClientOwner, request: ClientRequest = {}): Promise<Client> {
  const { connection, settings } = workspace
  const { url, ...others } = settings.get()
  return connect(connection?.url ?? url, {
    ...clientOptions({ ...others, url }, connection?.auth),
    ...request,
  })
}
