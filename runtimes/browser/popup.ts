/**
 * Signing in from a page: in a popup, or where there can be none, by leaving the page.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#authorization-flow-steps
 */
import type { RedirectResult, AuthorizationRedirect } from '#internal/authorization'
import type { AuthorizationFlow } from '../../src/authorization/index.ts'

/** How the user gets to the authorization server. */
export interface PopupOptions {
  /**
   * The URL, on this origin, that the authorization server sends the user to. The page there calls
   * {@link completeSignIn}; when the page is only ever left, it may be that page itself.
   */
  readonly redirectUri: string | URL
  /** `redirect` always leaves the page. Default: `popup`. */
  readonly mode?: 'popup' | 'redirect'
  /** Whether the page may be left where popups are blocked. Default: true. */
  readonly leavePage?: boolean
  /** The features of the window, as `window.open` takes them. Default: 520 by 720 pixels. */
  readonly features?: string
}

const KEPT = 'edgewise sign-in'
const FEATURES = 'popup,width=520,height=720'
/** How long the page that is waiting may take to say so, in milliseconds. */
const ANSWER_MS = 1_000

/** How often to look whether the user has closed the popup, in milliseconds. */
const LOOK_MS = 500
/** For how many looks a popup that is gone may be one that was just closed. */
const LOOKS = 3

/** What authorization servers add to the URL that they send users to. */
const RESPONSE = ['code', 'state', 'iss', 'error', 'error_description', 'error_uri']

/** What is kept while the page is left. */
interface Kept {
  readonly state: string | null
  readonly flow: string
  /** Where to go on. */
  readonly page: string
  readonly callback?: string
}

/**
 * Signs users in in a popup: give the result to `signIn` as `interaction`. Connect as an answer to a
 * click, so that the browser lets the popup open. A page that was left is loaded anew when the user
 * is back, which {@link returnedFromSignIn} tells: connect again then, without a click, and the first
 * request goes on with what was begun.
 *
 * A popup that the user closes ends signing in within two seconds, if the focus comes back to the page.
 * Otherwise it may be one that the authorization server has cut off from the page, and is waited for
 * as long as `interactionTimeoutMs` of `signIn` says.
 */
export function popup(options: PopupOptions): AuthorizationFlow {
  const { mode = 'popup', leavePage = true, features = FEATURES } = options
  const redirectUri = new URL(options.redirectUri, location.href).href
  return {
    begin(): AuthorizationRedirect {
      // Before anything is waited for, as a click allows a popup for a moment only
      const page = mode === 'popup' ? window.open('about:blank', '_blank', features) : null
      if (!page && mode === 'popup' && !leavePage) throw new Error('The browser blocks the popup')
      return {
        redirectUri,
        go: (url, flow, signal) =>
          page ? goInPopup(page, url, signal) : goByPage(url, flow, signal),
        end: () => page?.close(),
      }
    },
    returned: takeReturned,
  }
}

/**
 * Hands what the authorization server sent the user back with to the page that waits for it, and
 * closes this one; or goes back to the page that was left. Call it on the page at `redirectUri`.
 *
 * @returns False when nobody waits: the user opened this page by themselves, or too late.
 */
export async function completeSignIn(): Promise<boolean> {
  const callback = location.href
  const state = new URL(callback).searchParams.get('state')
  // The code stays neither in the history nor in what other sites are told
  history.replaceState(null, '', location.pathname)
  if (await tell(state, callback)) {
    window.close()
    return true
  }
  const kept = readKept()
  if (!kept || kept.state !== state) return false
  keep({ ...kept, callback })
  location.replace(kept.page)
  return true
}

/** Tells the page that waits; it may be cut off from its popup, so not by `opener`. */
function tell(state: string | null, callback: string): Promise<boolean> {
  const channel = new BroadcastChannel(channelName(state))
  return new Promise<boolean>((resolve) => {
    const timer = setTimeout(resolve, ANSWER_MS, false)
    channel.addEventListener('message', ({ data }) => {
      if (data !== 'taken') return
      clearTimeout(timer)
      resolve(true)
    })
    channel.postMessage({ callback })
  }).finally(() => channel.close())
}

async function goInPopup(page: Window, url: string, signal: AbortSignal): Promise<string> {
  // It was at a page of this origin up to now, from which nothing cuts it off
  if (page.closed) throw closedByUser()
  let stop: (() => void) | undefined
  const channel = new BroadcastChannel(channelName(new URL(url).searchParams.get('state')))
  try {
    return await new Promise<string>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
      channel.addEventListener('message', ({ data }) => {
        if (typeof data?.callback !== 'string') return
        channel.postMessage('taken')
        resolve(data.callback)
      })
      page.location.replace(url)
      stop = watchClosing(page, () => reject(closedByUser()))
    })
  } finally {
    stop?.()
    // The answer has to get out before the channel is closed
    setTimeout(() => channel.close(), ANSWER_MS)
  }
}

/**
 * Tells when the user closes the popup. One that an authorization server cuts off from this page, by
 * `Cross-Origin-Opener-Policy`, looks closed too, but the user is still in it: so only one counts
 * whose focus goes to this page as it goes. Where the focus goes elsewhere, the user is waited for.
 */
function watchClosing(page: Window, closed: () => void): () => void {
  // Phones may stop this page before it can look
  let wasElsewhere = !document.hasFocus()
  let gone = 0
  let back = 0
  const timer = setInterval(() => {
    const isHere = document.hasFocus()
    if (!page.closed) {
      wasElsewhere = !isHere
      return
    }
    if (isHere) back++
    // At the second look only, as an answer may be on its way
    if (wasElsewhere && back > 1) closed()
    if (!wasElsewhere || ++gone > LOOKS) clearInterval(timer)
  }, LOOK_MS)
  return () => clearInterval(timer)
}

function closedByUser(): Error {
  return new Error('The popup was closed')
}

function goByPage(url: string, flow: string, signal: AbortSignal): Promise<string> {
  keep({ state: new URL(url).searchParams.get('state'), flow, page: location.href })
  location.assign(url)
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
    // From the back-forward cache: who signed in is sent to a page that is loaded anew
    const onShow = ({ persisted }: PageTransitionEvent): void => {
      if (persisted) reject(new Error('The user came back without signing in'))
    }
    addEventListener('pageshow', onShow, { signal })
  })
}

/**
 * Whether the page was left to sign in and has been loaded anew with what came of it, good or bad.
 * Connect then, and it goes on. False as soon as a request took it.
 */
export function returnedFromSignIn(): boolean {
  return findReturned() !== undefined
}

function takeReturned(): RedirectResult | undefined {
  const found = findReturned()
  if (!found) return undefined
  sessionStorage.removeItem(KEPT)
  if (found.here) {
    const url = new URL(location.href)
    for (const name of RESPONSE) url.searchParams.delete(name)
    history.replaceState(null, '', url)
  }
  return { callback: found.callback, flow: found.flow }
}

/** What came back after the page was left, whether by way of another page or to this one. */
function findReturned(): (RedirectResult & { readonly here: boolean }) | undefined {
  const kept = readKept()
  if (!kept) return undefined
  const { flow, state } = kept
  const here = state !== null && new URL(location.href).searchParams.get('state') === state
  const callback = kept.callback ?? (here ? location.href : undefined)
  return callback === undefined ? undefined : { callback, flow, here }
}

function keep(kept: Kept): void {
  sessionStorage.setItem(KEPT, JSON.stringify(kept))
}

function readKept(): Kept | undefined {
  const text = sessionStorage.getItem(KEPT)
  return text === null ? undefined : JSON.parse(text)
}

/** The state is known to nobody but the two pages and the authorization server. */
function channelName(state: string | null): string {
  return `${KEPT} ${state}`
}
