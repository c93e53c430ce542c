/**
 * Keeps one connection to a server: connects, signs in, loads the lists, and reconnects after failures.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import {
  fetchFaultOf,
  pageFetch,
  type Fetch,
  type InputContext,
  type RequestId,
} from 'edgewise/browser'
import { createReconnectingClient, type Client } from 'edgewise/client'
import { taskPolling, type DetailedTask } from 'edgewise/tasks'
import { loadCatalog } from '../catalog.ts'
import { explainError, isAuthorizationError, type Explanation } from '../explanation.ts'
import type * as Questions from '../questions.ts'
import type { Settings } from '../settings/settings.ts'
import { createAuth } from '../sign-in/auth.ts'
import { recordSteps, type SignInStep, type StepRecorder } from '../sign-in/steps.ts'
import type { Answer } from '../timeline/observe.ts'
import type { Timeline } from '../timeline/timeline.ts'
import { clientOptions, failureContext, hasCredentials, rootsOf } from './client.ts'
import { nameOf, type Connection, type OwnSubscriptions } from './connection.ts'
import { localNetworkPermission } from './local-network.ts'
import { relayedUrl } from './relay.ts'
import { createTraffic } from './traffic.ts'
import { signInStatus, type SignInPrompt, type Status } from './status.ts'

/** What a link needs of its workspace. */
export interface LinkOwner {
  /** Returns the current settings. */
  settings(): Settings
  readonly timeline: Timeline
  /** The subscriptions, which every client of the server continues. */
  readonly subscriptions: OwnSubscriptions
  onStatus(status: Status): void
  /** Called when the connection is open, and again when its lists have changed. */
  onConnection(connection: Connection): void
  /** Called with each step of a sign-in, and again when the step has ended. */
  onStep(step: SignInStep): void
  /** Resolves when the page shows the workspace, so that each question appears in the tab of its server. */
  untilShown(signal: AbortSignal): Promise<void>
}

/** A connection that is kept open. */
export interface Link {
  /** Tests now whether a lost server is reachable again. */
  retry(): void
  close(): Promise<void>
}

/** Opens a connection to the endpoint at a URL. */
export function openLink(url: string, owner: LinkOwner): Link {
  const { timeline, subscriptions } = owner
  const { host } = new URL(relayedUrl(url) ?? url)
  const settings = owner.settings()
  const tasks = new Map<RequestId, DetailedTask>()
  let connection: Connection | undefined
  const facts: Pick<Connection, 'session' | 'signedIn' | 'lacksSession'> = {
    session: undefined,
    signedIn: false,
    lacksSession: false,
  }
  /** Whether the page has asked for a session. */
  let isInitialized = false
  const traffic = createTraffic()
  let lastAnswer: Answer | undefined
  /** The names of the headers of the last request that was not answered. */
  let requested: readonly string[] = []
  let isClosed = false
  let status: Status = { state: 'connecting', text: `Connecting to ${host}`, step: '' }
  let prompt: SignInPrompt | undefined

  function report(): void {
    if (!isClosed) owner.onStatus(prompt ? signInStatus(prompt) : status)
  }
  function setStatus(next: Status): void {
    status = next
    report()
  }
  const onError = (error: unknown): void => timeline.notice('error', String(error))
  let isReloading = false
  let isStale = false
  /** Loads the lists again. Changes that are announced meanwhile lead to one more time, however many they are. */
  const reload = async (): Promise<void> => {
    isStale = true
    if (!connection || isReloading) return
    isReloading = true
    while (isStale && !isClosed) {
      isStale = false
      await load(connection).catch(onError)
    }
    isReloading = false
  }
  async function load(opened: Connection): Promise<void> {
    opened.catalog = await loadCatalog(opened.client, onError)
    if (isClosed) return
    owner.onConnection(opened)
    if (status.state === 'connected') setStatus(connectedStatus(status.text, opened))
  }

  /** The last sign-in step of each title. */
  const lastSteps = new Map<string, SignInStep>()
  function onStep(step: SignInStep): void {
    lastSteps.set(step.title, step)
    timeline.signInStep(step)
    owner.onStep(step)
  }
  const steps = recordSteps(onStep)
  const auth = createAuth(steps, (next) => {
    prompt = next
    report()
  })
  const observed = timeline.observe((target, init) => fetch(target, init), {
    onSession(id) {
      Object.assign(facts, { session: id, lacksSession: false })
      if (connection) Object.assign(connection, facts)
    },
    onSignedIn() {
      facts.signedIn = !hasCredentials(settings)
      if (connection) connection.signedIn = facts.signedIn
    },
    onAnswer(answer) {
      lastAnswer = answer
      const { status: code, text } = answer
      const isRefusal = (code === 400 || code === 404) && /session/i.test(text)
      facts.lacksSession ||= isInitialized && facts.session === undefined && isRefusal
      if (connection) connection.lacksSession = facts.lacksSession
    },
    onRequest: traffic.begin,
  })
  const send: Fetch = async (target, init) => {
    const step = stepOf(init)
    isInitialized ||= step === INITIALIZING
    if (status.state === 'connecting' && step) setStatus({ ...status, step })
    const names = [...new Headers(init.headers).keys()]
    const response = await observed(target, init).catch((error: unknown) => {
      requested = names
      throw error
    })
    // The page cannot read the response to the probe of a failed request
    if (response.type === 'opaque') return response
    if (response.status === 404 && names.includes('mcp-session-id')) traffic.lostSessions++
    recordChallenge(steps, response, target)
    return response
  }

  /** Aborts the open questions when the link is closed. */
  const closing = new AbortController()
  /** Loads the dialogs on demand, because most servers ask for nothing. */
  async function ask<T>(
    context: InputContext,
    show: (dialogs: typeof Questions, context: InputContext) => Promise<T>,
  ): Promise<T> {
    const signal = AbortSignal.any([context.signal, closing.signal])
    const answer = async (): Promise<T> => {
      await owner.untilShown(signal)
      return show(await import('../questions.ts'), { ...context, signal })
    }
    return traffic.countWait(answer())
  }

  const reconnecting = createReconnectingClient(url, {
    ...clientOptions(settings, auth),
    fetch: pageFetch({
      fetch: send,
      onWait: (isWaiting) =>
        timeline.notice(
          'notice',
          isWaiting ? 'Not listening: four other tabs do' : 'Listening again',
        ),
    }),
    extensions: [
      timeline.unanswered,
      taskPolling({ onTask: (task) => tasks.set(task.taskId, task) }),
    ],
    onElicit: (params, context) => ask(context, (dialogs, own) => dialogs.ask(params, own)),
    onSample: (params, context) => ask(context, (dialogs, own) => dialogs.sample(params, own)),
    ...(settings.roots.length > 0 && { roots: () => rootsOf(owner.settings()) }),
    onToolsChanged: () => void reload(),
    onResourcesChanged: () => void reload(),
    onPromptsChanged: () => void reload(),
    onResourceUpdated: subscriptions.notify,
    onError,
    isOffline: (error) => fetchFaultOf(error)?.kind === 'offline',
    subscribeToWake(check) {
      addEventListener('online', check)
      return () => removeEventListener('online', check)
    },
  })

  async function onReady(client: Client): Promise<void> {
    const { logLevel } = owner.settings()
    if (status.state === 'connecting') setStatus({ ...status, step: 'loading its lists' })
    if (logLevel !== 'off' && client.serverCapabilities?.logging) {
      await client.setLogLevel(logLevel).catch(onError)
    }
    const catalog = await loadCatalog(client, onError)
    if (isClosed || reconnecting.getSnapshot().status !== 'ready') return
    const isNew = client !== connection?.client
    connection ??= { ...facts, client, url, auth, catalog, tasks, traffic, subscriptions }
    Object.assign(connection, { ...facts, client, catalog })
    owner.onConnection(connection)
    if (isNew) subscriptions.renew(onError)
    const how = relayedUrl(url) === undefined ? '' : ', relayed by edgewise inspect'
    const text = `Connected to ${nameOf(client)} over MCP ${client.revision}${how}`
    timeline.mark(text)
    setStatus(connectedStatus(text, connection))
  }

  function onLost(error: Error, attempt: number): void {
    const name = connection ? nameOf(connection.client) : host
    const text = `Lost the connection to ${name}`
    if (status.state !== 'lost') timeline.mark(text)
    const isOffline = fetchFaultOf(error)?.kind === 'offline'
    const step = isOffline ? 'waiting for the network' : `reconnecting, attempt ${attempt + 1}`
    setStatus({ state: 'lost', text, step })
  }

  async function explainFailure(error: Error): Promise<Explanation> {
    if (fetchFaultOf(error)?.kind === 'cors') {
      const { diagnoseBlocked } = await import('./cors.ts')
      return diagnoseBlocked(url, timeline, requested)
    }
    const localNetwork = await localNetworkPermission(url)
    const context = {
      ...failureContext({ url, ...facts }, settings),
      lastAnswer,
      localNetwork,
    }
    if (!isAuthorizationError(error)) return explainError(error, context)
    const { explainSignIn } = await import('../sign-in/failure.ts')
    const { explanation, step } = explainSignIn(error, [...lastSteps.values()], url, context)
    if (step) onStep(step)
    return explanation
  }

  async function onFailed(error: Error): Promise<void> {
    const explanation = await explainFailure(error)
    timeline.mark(explanation.headline, true)
    setStatus({ state: 'failed', text: explanation.headline, explanation })
  }

  reconnecting.subscribe(() => {
    const state = reconnecting.getSnapshot()
    if (state.status === 'ready') void onReady(state.client).catch(onFailed)
    if (state.status === 'reconnecting') onLost(state.error, state.attempt)
    if (state.status === 'failed') void onFailed(state.error)
  })
  timeline.mark(status.text)
  report()
  // Explains failures, also if this page is unreachable by then
  void import('../errors.ts').catch(() => {})
  reconnecting.open()
  return {
    retry: reconnecting.check,
    close() {
      isClosed = true
      prompt?.cancel()
      closing.abort()
      return reconnecting.close()
    },
  }
}

/** Records that a server requires authorization, which is the first step of a sign-in. */
function recordChallenge(steps: StepRecorder, { status, headers }: Response, url: string): void {
  const challenge = headers.get('www-authenticate')
  if (status !== 401 && (status !== 403 || challenge === null)) return
  steps.add('Challenge of the server', url, {
    state: 'done',
    status,
    summary: challenge ?? 'There is no WWW-Authenticate header that this page can read',
  })
}

/** The status of an open connection. */
function connectedStatus(text: string, { catalog: { failures } }: Connection): Status {
  const methods = failures.map(({ method }) => method)
  return { state: 'connected', text, ...(methods[0] && { step: `failed: ${methods.join(', ')}` }) }
}

const INITIALIZING = 'initializing a session'

/** Describes a request while connecting. */
function stepOf({ method, body }: RequestInit): string | undefined {
  if (method === 'GET') return 'trying HTTP+SSE'
  const [, name = ''] = /"method":"([^"]+)"/.exec(String(body)) ?? []
  return { 'server/discover': 'discovering its revisions', initialize: INITIALIZING }[name]
}
