/**
 * A connection to a server. Questions open dialogs, log messages are shown in the activity panel, and
 * changed lists are loaded again.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
 */
import { pageFetch, type RequestId, type Revision } from 'edgewise/browser'
import { connect, type Client } from 'edgewise/client'
import { taskPolling, type DetailedTask } from 'edgewise/tasks'
import type { Activity } from './activity/activity.ts'
import { loadCatalog, type Catalog } from './catalog.ts'
import { auth } from './sign-in.ts'
import { watchedFetch, type WireEntry } from './activity/wire.ts'

/** An open connection, and the lists of its server. */
export interface Connection {
  client: Client
  url: string
  /** The id of the session, if there is one. */
  session: string | undefined
  signedIn: boolean
  catalog: Catalog
  /** The last known state of the tasks that calls became. The task id is the progress token of such a call. */
  tasks: ReadonlyMap<RequestId, DetailedTask>
}

/** Where to connect, and how. */
export interface Target {
  url: string
  /** The revision to use. By default any revision is used. */
  revision: Revision | undefined
  /** The timeout of requests, in milliseconds. By default it is that of the client. */
  timeoutMs: number | undefined
  /** Aborts connecting. */
  signal: AbortSignal
}

/** Events of a connection that the page handles. */
export interface ConnectionEvents {
  /** Called when the server has changed its lists, after they were loaded again. */
  onChanged(): void
  /** Called with every response of the server. */
  onAnswer(entry: WireEntry): void
  /** Called with whether a request reached the server, for the first time while connecting. */
  onReach(isReached: boolean): void
}

/** Connects and loads the lists. When the server changes them, loads them again and notifies the page. */
export async function openConnection(
  { url, revision, timeoutMs, signal }: Target,
  activity: Activity,
  { onChanged, onAnswer, onReach }: ConnectionEvents,
): Promise<Connection> {
  let connection: Connection | undefined = undefined
  let session: string | undefined
  let signedIn = false
  const tasks = new Map<RequestId, DetailedTask>()
  const logToPanel = (level: 'error' | 'notice', data: string): void =>
    activity.log({ level, logger: 'playground', data })
  const onError = (error: unknown): void => logToPanel('error', String(error))
  const load = async (opened: Connection): Promise<void> => {
    opened.catalog = await loadCatalog(opened.client, onError)
    onChanged()
  }
  const reload = (): void => {
    if (connection) void load(connection)
  }

  const client = await connect(url, {
    info: { name: 'edgewise-playground', title: 'Edgewise playground', version: '1.0.0' },
    signal,
    auth,
    fetch: pageFetch({
      fetch: watchedFetch({
        report(entry) {
          activity.wire(entry)
          if (entry.direction === 'received') onAnswer(entry)
        },
        onReach,
        onSession: (id) => (session = id),
        onSignedIn: () => (signedIn = true),
      }),
      onWait: (isWaiting) =>
        logToPanel('notice', isWaiting ? 'Not listening: four other tabs do' : 'Listening again'),
    }),
    extensions: [taskPolling({ onTask: (task) => tasks.set(task.taskId, task) })],
    capabilities: { elicitation: { form: {}, url: {} } },
    // Loaded on demand, because most servers ask for nothing
    onElicit: async (...request) => (await import('./questions.ts')).ask(...request),
    onSample: async (...request) => (await import('./questions.ts')).sample(...request),
    onLog: activity.log,
    onToolsChanged: reload,
    onResourcesChanged: reload,
    onPromptsChanged: reload,
    onError,
    ...(revision && { revision }),
    ...(timeoutMs && { timeoutMs }),
  })
  if (client.serverCapabilities?.logging) await client.setLogLevel('debug').catch(onError)
  const catalog = await loadCatalog(client, onError)
  connection = { client, url, session, signedIn, catalog, tasks }
  return connection
}
