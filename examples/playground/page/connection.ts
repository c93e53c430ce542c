/**
 * A connection to a server, with the page as its host: questions open dialogs, logs and messages
 * go to the activity panel, changed lists are loaded again.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
 */
import { pageFetch, type RequestId, type Revision } from 'edgewise/browser'
import { connect, type Client } from 'edgewise/client'
import { taskPolling, type DetailedTask } from 'edgewise/tasks'
import type { Activity } from './activity/activity.ts'
import { ask } from './ask.ts'
import { loadCatalog, type Catalog } from './catalog.ts'
import { sample } from './sample.ts'
import { auth } from './sign-in.ts'
import { watchedFetch, type WireEntry } from './activity/wire.ts'

/** An open connection and what the server lists. */
export interface Connection {
  client: Client
  url: string
  /** The session's id, where there are sessions. */
  session: string | undefined
  signedIn: boolean
  catalog: Catalog
  /** Tasks that calls became, as last known; the progress of such a call has the id for its token. */
  tasks: ReadonlyMap<RequestId, DetailedTask>
}

/** Where to connect, and how. */
export interface Target {
  url: string
  /** Any, if not given. */
  revision: Revision | undefined
  /** The longest silence of a request, in milliseconds; the client's default, if not given. */
  timeoutMs: number | undefined
  /** Gives up connecting. */
  signal: AbortSignal
}

/** Events of a connection that the page handles. */
export interface ConnectionEvents {
  /** The server changed its lists, which were loaded again. */
  onChanged(): void
  /** Something came from the server. */
  onAnswer(entry: WireEntry): void
  /** A request reached the server, or did not; the first ones already while connecting. */
  onReach(isReached: boolean): void
}

/** Connects and loads the lists; loads them again, and says so, when the server changes them. */
export async function openConnection(
  { url, revision, timeoutMs, signal }: Target,
  activity: Activity,
  { onChanged, onAnswer, onReach }: ConnectionEvents,
): Promise<Connection> {
  let connection: Connection | undefined = undefined
  let session: string | undefined
  let signedIn = false
  const tasks = new Map<RequestId, DetailedTask>()
  const say = (level: 'error' | 'notice', data: string): void =>
    activity.log({ level, logger: 'playground', data })
  const onError = (error: unknown): void => say('error', String(error))
  const load = async (known: Connection): Promise<void> => {
    known.catalog = await loadCatalog(known.client, onError)
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
        say('notice', isWaiting ? 'Not listening: four other tabs do' : 'Listening again'),
    }),
    extensions: [taskPolling({ onTask: (task) => tasks.set(task.taskId, task) })],
    capabilities: { elicitation: { form: {}, url: {} } },
    onElicit: ask,
    onSample: sample,
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
