/**
 * Everything of one server: its settings, its connection, its timeline and its views. The page shows one
 * workspace at a time.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
 */
import { SdkError } from 'edgewise/browser'
import type { Client } from 'edgewise/client'
import { createSubscriptions, nameOf, type Connection } from './connection/connection.ts'
import type { FoundServer } from './connection/discover.ts'
import { openLink, type Link } from './connection/link.ts'
import type { Status } from './connection/status.ts'
import { explainError, type Explanation } from './explanation.ts'
import { createHistory, type History } from './history/history.ts'
import { linkTo } from './restore.ts'
import { hrefOf, type Route } from './route.ts'
import { isDomain } from './secrets.ts'
import { needsReconnect, settingsOf, storeSettings, type Settings } from './settings/settings.ts'
import type { SignInStep } from './sign-in/steps.ts'
import { createStore, type Store } from './store.ts'
import { createTimeline, type Timeline } from './timeline/timeline.ts'

/** Everything of one server. */
export interface Workspace {
  /** An id that no other workspace of the page has. */
  readonly id: string
  readonly settings: Store<Settings>
  readonly status: Store<Status>
  /** The steps of the sign-ins since the last attempt to connect. */
  readonly steps: Store<readonly SignInStep[]>
  /** Whether the page shows this workspace. */
  readonly isShown: Store<boolean>
  /** The number of the server's questions that wait until the page shows this workspace. */
  readonly waiting: Store<number>
  /** The connection, as long as its lists are shown. While reconnecting, its client may be closed. */
  readonly connection: Connection | undefined
  /**
   * The current client. Views survive a reconnect, so they read it when they send a request.
   *
   * @throws {SdkError} `CLOSED` if there is no connection.
   */
  readonly client: Client
  readonly timeline: Timeline
  readonly history: History
  /** The view of the workspace, as a fragment of the page's address. */
  hash: string
  /** The views that were opened, by fragment, so that forms and results are unchanged when the user goes back. */
  readonly views: Map<string, OpenedView>
  /** The text of the filter of its lists. */
  filter: string
  /** Shows an entry, as if the user had followed a link. Its arguments fill the form. */
  show(route: Route): void
  /** Returns a link that opens the page with this server and an entry, without secrets. */
  linkTo(route: Route): string
  /** Connects with the current settings, and ends the previous connection. */
  connect(): Promise<void>
  /** Cancels connecting, reconnecting or signing in. */
  cancel(): void
  /** Ends the connection. The text says why. */
  disconnect(text?: string): Promise<void>
  /** Tests now whether a lost server is reachable again. */
  retry(): void
  /** Changes settings, stores them, and reconnects if a connection was opened with others. */
  change(settings: Partial<Settings>): void
  /** Signs the user out in all tabs of the browser. */
  signOut(): Promise<void>
}

/** A view that was opened. */
export interface OpenedView {
  readonly element: HTMLElement
  /** The definition that the view shows, as JSON. */
  readonly definition: string
}

/** Notifies the page of a workspace's changes. */
export interface WorkspaceEvents {
  /** Called when the connection or its lists have changed. */
  onChanged(workspace: Workspace): void
  /** Called when the workspace wants to show another view. */
  onShow(workspace: Workspace): void
}

let lastId = 0

/** Creates a workspace, which is not connected yet. */
export function createWorkspace(initial: Settings, events: WorkspaceEvents): Workspace {
  const id = `workspace-${++lastId}`
  const settings = createStore(initial)
  const status = createStore<Status>({ state: 'idle', text: 'Not connected' })
  const steps = createStore<readonly SignInStep[]>([])
  const isShown = createStore(false)
  const waiting = createStore(0)
  const timeline = createTimeline({ settings })
  const subscriptions = createSubscriptions(() => connection?.client)
  let link: Link | undefined
  let connection: Connection | undefined
  /** Whether the connection was lost. Its lists and views stay even if it cannot be opened again. */
  let isLost = false
  /** Aborted when connecting is cancelled or begins again. */
  let attempt = new AbortController()

  function setConnection(next: Connection | undefined): void {
    if (!next && !connection) return
    connection = next
    events.onChanged(workspace)
  }

  /** Ends the connection and the attempt to open one. */
  async function close(): Promise<void> {
    attempt.abort()
    attempt = new AbortController()
    const closing = link?.close()
    link = undefined
    await closing?.catch(() => {})
  }

  async function connect(): Promise<void> {
    const closing = close()
    const { signal } = attempt
    const { url: address } = settings.get()
    const isReconnect = connection?.url === address
    // The tools of another server can no longer be called
    if (!isReconnect) {
      isLost = false
      workspace.views.clear()
      subscriptions.clear()
      setConnection(undefined)
    }
    steps.set([])
    timeline.showNewest()
    const what = isReconnect && connection ? `Reconnecting to ${nameOf(connection.client)}` : ''
    status.set({ state: 'connecting', text: what || `Connecting to ${address}`, step: '' })
    try {
      await closing
      const found = isDomain(address) ? await find(address, signal) : undefined
      if (signal.aborted) return
      if (found && 'headline' in found) return setFailed(found)
      const url = found?.url ?? new URL(address).href
      link = openLink(url, {
        settings: settings.get,
        timeline,
        subscriptions,
        onStatus(next) {
          const isAttempt = next.state === 'connecting' || next.state === 'failed'
          if (!isAttempt) isLost = next.state === 'lost'
          if (next.state !== 'failed') status.set(next)
          else if (isLost && connection) status.set(lost(next, connection))
          else {
            setConnection(undefined)
            status.set(next)
          }
        },
        onConnection(next) {
          if (next !== connection) found?.compare(next.client)
          setConnection(next)
        },
        onStep(step) {
          const all = steps.get()
          // After an attempt was aborted, those of its steps that are still shown can only end
          if (signal.aborted && all.every(({ id: shown }) => shown !== step.id)) return
          steps.set(withStep(all, step))
        },
        untilShown,
      })
    } catch (error) {
      if (!signal.aborted) await fail(error, signal)
    }
  }

  /** Resolves when the page shows this workspace, or the signal aborts. */
  async function untilShown(signal: AbortSignal): Promise<void> {
    if (isShown.get() || signal.aborted) return
    waiting.set(waiting.get() + 1)
    await new Promise<void>((resolve) => {
      const stop = isShown.subscribe(() => {
        stop()
        resolve()
      })
      signal.addEventListener('abort', () => resolve())
    })
    waiting.set(waiting.get() - 1)
  }

  /** Finds the server that a domain lists. */
  async function find(domain: string, signal: AbortSignal): Promise<FoundServer | Explanation> {
    const { findServer } = await import('./connection/discover.ts')
    const found = await findServer(domain, signal, timeline)
    if (!signal.aborted && 'url' in found)
      settings.set(settingsOf(found.url, settings.get().revision))
    return found
  }

  async function fail(error: unknown, signal: AbortSignal): Promise<void> {
    const explanation = await explainError(error)
    if (!signal.aborted) setFailed(explanation)
  }

  function setFailed(explanation: Explanation): void {
    setConnection(undefined)
    status.set({ state: 'failed', text: explanation.headline, explanation })
  }

  async function disconnect(text = 'Disconnected'): Promise<void> {
    const closing = close()
    timeline.mark(text)
    setConnection(undefined)
    status.set({ state: 'idle', text })
    await closing
  }

  const workspace: Workspace = {
    id,
    settings,
    status,
    steps,
    isShown,
    waiting,
    timeline,
    history: createHistory(),
    views: new Map(),
    hash: '',
    filter: '',
    get connection() {
      return connection
    },
    get client() {
      if (connection) return connection.client
      throw new SdkError('CLOSED', 'There is no connection to the server')
    },
    show(route) {
      workspace.hash = hrefOf(route)
      events.onShow(workspace)
    },
    linkTo: (route) => linkTo([settings.get()], route),
    connect,
    cancel() {
      const now = status.get()
      // A sign-in that a call needs is cancelled without closing the connection
      if (now.state === 'sign-in' && connection) now.cancel()
      else void disconnect('Cancelled')
    },
    disconnect,
    retry: () => link?.retry(),
    change(changes) {
      const before = settings.get()
      const after = { ...before, ...changes }
      settings.set(after)
      storeSettings(after)
      if (!link) return
      if (needsReconnect(before, after)) void connect()
      else if (connection) void apply(connection.client, before, after)
    },
    async signOut() {
      const left = connection
      await disconnect('Signed out')
      await left?.auth.signOut(left.url)
    },
  }

  /** Applies settings that need no new connection. */
  async function apply(client: Client, before: Settings, after: Settings): Promise<void> {
    try {
      const { logLevel } = after
      if (logLevel !== 'off' && logLevel !== before.logLevel) await client.setLogLevel(logLevel)
      if (after.roots.join() !== before.roots.join()) await client.rootsChanged()
    } catch (error) {
      timeline.notice('error', String(error))
    }
  }

  return workspace
}

/** The status of a connection that was lost, and that the page no longer tries to open. */
function lost(failed: Status & { state: 'failed' }, { client }: Connection): Status {
  const text = `Lost the connection to ${nameOf(client)}`
  return { ...failed, text, step: `the page has stopped reconnecting: ${failed.text}` }
}

/** Adds a step, or replaces the one with the same id. */
function withStep(all: readonly SignInStep[], step: SignInStep): SignInStep[] {
  const isKnown = all.some(({ id }) => id === step.id)
  return isKnown ? all.map((each) => (each.id === step.id ? step : each)) : [...all, step]
}
