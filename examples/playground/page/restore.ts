/**
 * The servers that are open, in the page's address and for a reload. The address contains no secrets, so
 * that it can be shared. What it omits is stored until the browser tab is closed.
 *
 * @see https://developer.mozilla.org/docs/Web/API/History/replaceState
 */
import { isObject } from 'edgewise/browser'
import { ownServer } from './connection/relay.ts'
import { hrefOf, type Route } from './route.ts'
import { withoutSecrets } from './secrets.ts'
import { settingsOf, type Settings } from './settings/settings.ts'
import { readStored, writeStored } from './storage.ts'

/** The servers that are open. */
export interface OpenServers {
  readonly servers: readonly Settings[]
  /** The index of the server that is shown. */
  readonly active: number
}

const KEY = 'edgewise tabs'

/** Returns the servers of the page's address. By default it is the server of this page. */
export function restoreServers(): OpenServers {
  const query = new URLSearchParams(location.search)
  const revisions = query.getAll('revision')
  const timeoutMs = Number(query.get('timeoutMs'))
  const urls = query.getAll('url')
  if (urls.length === 0) urls.push(ownServer())
  const full = storedUrls()
  const servers = urls.map((url, index) => {
    const settings = settingsOf(full.get(url) ?? url, revisions[index] ?? 'auto')
    return timeoutMs > 0 ? { ...settings, timeoutMs } : settings
  })
  const active = Number(query.get('tab'))
  return { servers, active: servers[active] ? active : 0 }
}

/** Stores the servers in the page's address, so that a reload or a shared link opens them. */
export function rememberServers({ servers, active }: OpenServers): void {
  const urls = servers.map(({ url }) => [withoutSecrets(url), url])
  writeStored(KEY, JSON.stringify(Object.fromEntries(urls)), 'sessionStorage')
  history.replaceState(history.state, '', `?${queryOf(servers, active)}${location.hash}`)
}

/** Returns a link that opens the page with servers, of which the first is shown with a view. */
export function linkTo(servers: readonly Settings[], route: Route): string {
  return new URL(`?${queryOf(servers, 0)}${hrefOf(route)}`, document.baseURI).href
}

function queryOf(servers: readonly Settings[], active: number): URLSearchParams {
  const query = new URLSearchParams()
  for (const { url, revision } of servers) {
    query.append('url', withoutSecrets(url))
    query.append('revision', revision)
  }
  if (active > 0) query.set('tab', `${active}`)
  return query
}

/** The complete URLs of the servers that this browser tab has shown, by their URLs without secrets. */
function storedUrls(): Map<string, string> {
  try {
    const stored: unknown = JSON.parse(readStored(KEY, 'sessionStorage') ?? '')
    return new Map(isObject(stored) ? Object.entries(stored).map(([k, v]) => [k, String(v)]) : [])
  } catch {
    return new Map()
  }
}
