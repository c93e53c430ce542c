/**
 * The playground: connects to a server, and shows the view that the page's address selects.
 *
 * @see https://modelcontextprotocol.io/docs/2026-07-28/tools/inspector
 */
// The bundle contains the modules in this order, which saves half a KB when compressed
import { hrefOf, parseRoute, type Route } from './route.ts'
import { find } from './dom.ts'
import { findRevision, type Client } from 'edgewise/browser'
import { auth } from './sign-in.ts'
import { adviceOn, summary } from './errors.ts'
import { setUpTheme } from './theme.ts'
import { openConnection, type Connection } from './connection.ts'
import { titleOf } from './catalog.ts'
import { setUpSaved } from './saved/saved.ts'
import { isDomain } from './saved/store.ts'
import { markCurrent, setUpNavigation, showCatalog } from './navigation.ts'
import { missingView, serverView, welcomeView } from './views/server.ts'
import { promptView } from './views/prompt.ts'
import { resourceView, templateView } from './views/resource.ts'
import { toolView } from './views/tool.ts'
import { setUpActivity } from './activity/activity.ts'
import type { WireEntry } from './activity/wire.ts'
import type { FoundServer } from './discover.ts'

/** The delay until the button to cancel connecting is shown, in milliseconds. */
const PATIENCE_MS = 300

const form = find('connect', HTMLFormElement)
const endpoint = find('endpoint', HTMLInputElement)
const revision = find('revision', HTMLSelectElement)
const button = find('open', HTMLButtonElement)
const detail = find('detail', HTMLElement)
const activity = setUpActivity()

const query = new URLSearchParams(location.search)
const timeoutMs = Number(query.get('timeoutMs')) || undefined

let connection: Connection | undefined
let openingController: AbortController | undefined
let cancelButtonTimer: ReturnType<typeof setTimeout> | undefined
/** Advice for when there is no connection. */
let advice: string[] = []
/** The views that were opened, so that forms and results are unchanged when the user goes back. */
const views = new Map<string, HTMLElement>()

/** Shows the view of the page's address. */
function showRoute(moveFocus: boolean): void {
  const route = parseRoute(location.hash)
  const view = viewOf(route)
  detail.replaceChildren(view)
  document.body.dataset['view'] = route ? 'detail' : 'list'
  markCurrent()?.scrollIntoView({ block: 'nearest' })
  const heading = view.querySelector('h1')
  document.title = `${heading?.textContent} · Edgewise playground`
  if (moveFocus) heading?.focus()
}

function viewOf(route: Route | undefined): HTMLElement {
  const opened = connection
  if (!opened) return welcomeView(advice)
  if (!route) return serverView(opened, () => void signOut(opened))
  const view = views.get(hrefOf(route)) ?? makeView(opened, route)
  // Not stored, as the server may list it later
  if (!view) return missingView(route)
  views.set(hrefOf(route), view)
  return view
}

function makeView(opened: Connection, { kind, key }: Route): HTMLElement | undefined {
  const { client, catalog } = opened
  if (kind === 'tool') {
    const tool = catalog.tool.find(({ name }) => name === key)
    if (tool) return toolView(opened, tool)
  }
  if (kind === 'prompt') {
    const prompt = catalog.prompt.find(({ name }) => name === key)
    if (prompt) return promptView(client, prompt)
  }
  if (kind === 'template') {
    const template = catalog.template.find(({ uriTemplate }) => uriTemplate === key)
    if (template) return templateView(client, template)
  }
  if (kind === 'resource') {
    // A resource that a tool's result links to may be in no list
    const resource = catalog.resource.find(({ uri }) => uri === key)
    return resourceView(client, resource ?? { uri: key, name: key })
  }
  return undefined
}

type State = 'idle' | 'connecting' | 'connected' | 'lost' | 'failed'

/** Shows the state of the connection, also to screen readers. */
function report(state: State, text: string): void {
  const status = find('status', HTMLElement)
  status.textContent = text
  document.body.dataset['state'] = state
  clearTimeout(cancelButtonTimer)
  setButton(state === 'lost' ? 'Reconnect' : 'Connect', 'submit')
  // Most connections are open before a user could read the button
  if (state === 'connecting')
    cancelButtonTimer = setTimeout(setButton, PATIENCE_MS, 'Cancel', 'button')
}

/** Sets the label and the action of the button next to the address: submit the form, or abort. */
function setButton(label: string, type: 'submit' | 'button'): void {
  button.textContent = label
  button.type = type
}

/** Shows that there is no connection, and why. */
function showDisconnected(state: State, text: string, moveFocus: boolean): void {
  views.clear()
  showCatalog(undefined)
  report(state, text)
  showRoute(moveFocus)
}

/** Shows whether the server can be reached. It may become reachable again later. */
function reportReach({ client }: Connection, isReached: boolean): void {
  const isShown = document.body.dataset['state'] === 'connected'
  if (isReached === isShown) return
  const { revision: usedRevision } = client
  if (isReached) report('connected', `Connected to ${nameOf(client)} over ${usedRevision}`)
  else report('lost', `Lost the connection to ${nameOf(client)}`)
}

function nameOf({ serverInfo }: Client): string {
  return serverInfo ? titleOf(serverInfo) : 'the server'
}

/** Clears the message about an address when the user types another one. */
function forgetFailure(): void {
  const { state } = document.body.dataset
  if (state !== 'failed' && state !== 'lost') return
  report('idle', '')
  advice = []
  if (!connection) showRoute(false)
}

/** Cancels connecting, if it is in progress. */
function cancel(): void {
  openingController?.abort()
  showDisconnected('idle', 'Cancelled', false)
}

/** Connects with the settings of the form, and ends the previous connection. */
async function open(): Promise<void> {
  openingController?.abort()
  openingController = new AbortController()
  const { signal } = openingController
  const previous = connection
  let answer: WireEntry | undefined
  connection = undefined
  advice = []
  // The tools of the previous server can no longer be called
  showDisconnected('connecting', 'Connecting', false)
  try {
    await previous?.client.close()
    let found: FoundServer | undefined
    if (isDomain(endpoint.value)) {
      const { findServer } = await import('./discover.ts')
      found = await findServer(endpoint.value, signal, activity)
      endpoint.value = found.url
    }
    const chosenRevision = findRevision(revision.value)?.version
    const opened = await openConnection(
      { url: endpoint.value, revision: chosenRevision, timeoutMs, signal },
      activity,
      {
        onChanged() {
          if (opened === connection) showCatalog(opened.catalog)
        },
        onAnswer(entry) {
          answer = entry
        },
        onReach(isReached) {
          if (connection && !signal.aborted) reportReach(connection, isReached)
        },
      },
    )
    if (signal.aborted) return await opened.client.close()
    connection = opened
    found?.compare(opened.client)
    showCatalog(opened.catalog)
    reportReach(opened, true)
    remember()
    showRoute(false)
  } catch (error) {
    if (signal.aborted) return
    advice = adviceOn(error, answer)
    showDisconnected('failed', summary(error), false)
  }
}

/** Ends the connection, and signs the user out in all tabs. */
async function signOut({ client, url }: Connection): Promise<void> {
  connection = undefined
  await client.close()
  await auth.signOut(url)
  if (!connection) showDisconnected('idle', 'Signed out', true)
}

/** Stores the connection in the page's address, so that a reload or a shared link opens it. */
function remember(): void {
  query.set('url', endpoint.value)
  query.set('revision', revision.value)
  history.replaceState(null, '', `?${query}${location.hash}`)
}

endpoint.value = query.get('url') ?? new URL('mcp', document.baseURI).href
revision.value = query.get('revision') ?? 'auto'
setUpTheme(find('theme', HTMLButtonElement))
setUpNavigation()
setUpSaved({
  current() {
    if (!endpoint.reportValidity()) return undefined
    const { value: url } = endpoint
    const host = isDomain(url) ? url : new URL(url).host
    const name = connection?.url === url ? nameOf(connection.client) : host
    return { name, url, revision: revision.value }
  },
  open(server) {
    endpoint.value = server.url
    revision.value = server.revision
    void open()
  },
})
form.addEventListener('submit', (event) => {
  event.preventDefault()
  void open()
})
button.addEventListener('click', (event) => {
  if (button.type === 'submit') return
  // Otherwise the form would be submitted, as the button's type changes before the default action
  event.preventDefault()
  cancel()
})
endpoint.addEventListener('input', forgetFailure)
addEventListener('hashchange', () => {
  if (location.hash === '' || location.hash.startsWith('#/')) showRoute(true)
})
showRoute(false)
void open()
