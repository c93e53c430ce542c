/**
 * A connection to a server, with the page as its host: questions open dialogs, logs and messages
 * go to the activity panel, changed lists are loaded again.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
 */
import { connect, type Client, type Revision } from 'edgewise/browser'
import type { Activity } from './activity.ts'
import { ask } from './ask.ts'
import { loadCatalog, type Catalog } from './catalog.ts'
import { watchedFetch } from './wire.ts'

/** An open connection and what the server lists. */
export interface Connection {
  client: Client
  catalog: Catalog
}

/** Connects and loads the lists; loads them again, and says so, when the server changes them. */
export async function openConnection(
  url: string,
  revision: Revision | undefined,
  activity: Activity,
  onChanged: () => void,
): Promise<Connection> {
  const reload = (): void => {
    loadCatalog(client).then((catalog) => {
      connection.catalog = catalog
      onChanged()
    }, onError)
  }
  const onError = (error: unknown): void =>
    activity.log({ level: 'error', logger: 'playground', data: String(error) })

  const client = await connect(url, {
    info: { name: 'edgewise-playground', title: 'Edgewise playground', version: '1.0.0' },
    fetch: watchedFetch(activity.wire),
    capabilities: { elicitation: { form: {}, url: {} } },
    onElicit: (params, { signal }) => ask(params, signal),
    onLog: activity.log,
    onToolsChanged: reload,
    onResourcesChanged: reload,
    onPromptsChanged: reload,
    onError,
    ...(revision && { revision }),
  })
  if (client.serverCapabilities?.logging) await client.setLogLevel('debug')
  const connection: Connection = { client, catalog: await loadCatalog(client) }
  return connection
}
