/**
 * The playground: connects to servers, and shows the view that the page's address selects.
 *
 * @see https://modelcontextprotocol.io/docs/2026-07-28/tools/inspector
 */
import type { JsonObject } from 'edgewise/browser'
import { clearAnnouncement } from './announce.ts'
import { setUpAddress } from './connection/address.ts'
import { nameOf } from './connection/connection.ts'
import { setUpStatusLine } from './connection/status-line.ts'
import { find } from './dom.ts'
import { runningCalls } from './history/calls.ts'
import { setUpPlaces } from './layout/places.ts'
import { setUpTabs } from './layout/tabs.ts'
import { setUpNavigation } from './navigation.ts'
import { setUpReload } from './reload.ts'
import { rememberServers, restoreServers } from './restore.ts'
import { hrefOf, parseRoute, type Route } from './route.ts'
import { setUpSaved } from './saved/saved.ts'
import { isDomain } from './secrets.ts'
import { settingsOf, type Settings } from './settings/settings.ts'
import { setUpTheme } from './theme.ts'
import { setUpTimelinePanel } from './timeline/panel.ts'
import { startView } from './views/start.ts'
import { viewOf } from './views/views.ts'
import { createWorkspace, type Workspace } from './workspace.ts'

const detail = find('detail', HTMLElement)
const address = setUpAddress(showOverview)
const showStatus = setUpStatusLine()
const navigation = setUpNavigation()
const timelinePanel = setUpTimelinePanel(
  find('timeline-panel', HTMLElement),
  find('timeline-toggle', HTMLButtonElement),
)
const tabs = setUpTabs({ select, close, add: () => add() })
const showPlace = setUpPlaces()

const restored = restoreServers()
const workspaces = restored.servers.map(create)
let active = workspaces[restored.active] ?? create(settingsOf('', 'auto'))

function create(settings: Settings): Workspace {
  const workspace = createWorkspace(settings, {
    onChanged(changed) {
      if (changed === active) showConnection()
    },
    onShow(changed) {
      if (changed === active) location.hash = changed.hash
    },
  })
  workspace.settings.subscribe(remember)
  workspace.waiting.subscribe(showTitle)
  workspace.history.calls.subscribe(guardCalls)
  return workspace
}

/** The scroll positions of the views that were left, by server and fragment. */
const positions = new Map<string, readonly number[]>()
/** What scrolls: the view, or on narrow screens the list or the view. */
const scrollers = [detail, find('workspace', HTMLElement)]
let shownKey = ''

/** Shows the view of the page's address. */
function showView(moveFocus: boolean): void {
  const { hash } = location
  active.hash = hash
  const route = parseRoute(hash)
  const { connection } = active
  const view = connection ? viewOf(active, connection, route) : startView(active, address.open)
  const key = `${active.id} ${hash}`
  // The first view is not scrolled, and to find that out would take the browser a layout
  const isOther = key !== shownKey && shownKey !== ''
  if (isOther) {
    clearAnnouncement()
    positions.set(
      shownKey,
      scrollers.map(({ scrollTop }) => scrollTop),
    )
  }
  const hadFocus = detail.contains(document.activeElement)
  if (detail.firstElementChild !== view) detail.replaceChildren(view)
  document.body.dataset['view'] = route ? 'detail' : 'list'
  document.body.toggleAttribute('data-connected', connection !== undefined)
  if (isOther) {
    const tops = positions.get(key) ?? []
    for (const [index, scroller] of scrollers.entries()) scroller.scrollTop = tops[index] ?? 0
  }
  shownKey = key
  navigation.markCurrent()?.scrollIntoView({ block: 'nearest' })
  showTitle()
  // The focus may have been in the view before
  if (moveFocus || (hadFocus && !view.contains(document.activeElement)))
    view.querySelector('h1')?.focus()
  if (connection && route?.arguments) fillForm(view, route, route.arguments)
}

/** Shows the overview before another server is opened, which has other entries. */
function showOverview(): void {
  history.replaceState(null, '', '#/')
  showPlace('server')
  showView(false)
}

/** Lets the browser ask before it closes or reloads the page, but only while a call runs that would be lost. */
function guardCalls(): void {
  const isRunning = workspaces.some(({ history: { calls } }) => runningCalls(calls).length > 0)
  if (isRunning) addEventListener('beforeunload', preventDefault)
  else removeEventListener('beforeunload', preventDefault)
}

const preventDefault = (event: Event): void => event.preventDefault()

/** Shows in the title what the view is, and how many questions wait in other tabs. */
function showTitle(): void {
  const heading = detail.querySelector('h1')
  const count = workspaces.reduce((sum, { waiting }) => sum + waiting.get(), 0)
  const prefix = count > 0 ? `(${count}) ` : ''
  document.title = `${prefix}${heading?.textContent} · Edgewise playground`
}

/** Fills the form of a view. The address then selects the view only, so that a reload changes nothing. */
function fillForm(view: HTMLElement, { kind, key }: Route, values: JsonObject): void {
  active.hash = hrefOf({ kind, key })
  history.replaceState(history.state, '', active.hash)
  navigation.markCurrent()
  view.dispatchEvent(new CustomEvent('arguments', { detail: values }))
}

/** Shows the lists of the active server, and its view. */
function showConnection(): void {
  navigation.show(active)
  showView(false)
}

/** Shows another server. */
function select(workspace: Workspace): void {
  active.isShown.set(false)
  active = workspace
  active.isShown.set(true)
  if (location.hash !== active.hash) {
    // No entry in the history of the browser, as each server has its own view
    history.replaceState(null, '', active.hash || '#/')
  }
  address.show(active)
  showStatus(active)
  timelinePanel.show(active.timeline)
  showPlace('server')
  showConnection()
  remember()
  tabs.draw(workspaces, active)
}

/** Opens a tab without a server. */
function add(): void {
  const workspace = create(settingsOf('', 'auto'))
  workspaces.push(workspace)
  select(workspace)
  address.focus()
}

/** Closes the tab of a server. The last one stays. */
function close(workspace: Workspace): void {
  if (workspaces.length === 1) return
  const index = workspaces.indexOf(workspace)
  workspaces.splice(index, 1)
  void workspace.disconnect()
  select(workspace === active ? (workspaces[Math.max(0, index - 1)] ?? active) : active)
}

/** Stores the open servers in the page's address. */
function remember(): void {
  const servers = workspaces.map(({ settings }) => settings.get())
  rememberServers({ servers, active: workspaces.indexOf(active) })
}

setUpReload()
setUpTheme(find('theme', HTMLButtonElement))
setUpSaved({
  current() {
    const server = address.current()
    if (!server) return undefined
    const { url } = server
    const { connection } = active
    const host = isDomain(url) ? url : new URL(url).host
    return { name: connection?.url === url ? nameOf(connection.client) : host, ...server }
  },
  open: ({ url, revision }) => address.open(url, revision),
  onChanged() {
    if (!active.connection) showView(false)
  },
})
find('settings-open', HTMLButtonElement).addEventListener('click', () => {
  void import('./settings/panel.ts').then(({ showSettings }) => showSettings(active))
})
addEventListener('hashchange', () => {
  if (location.hash === '' || location.hash.startsWith('#/')) {
    showPlace('server')
    showView(true)
  }
})
active.hash = location.hash
select(active)
for (const workspace of workspaces)
  if (workspace.settings.get().url !== '') void workspace.connect()
