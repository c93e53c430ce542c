/**
 * Signing in from a page: in a popup, or by redirecting the page.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#authorization-flow-steps
 */
import type { RedirectResult, AuthorizationRedirect } from '#internal/authorization'
import type { AuthorizationFlow } from '../../src/authorization/index.ts'

/** How the user is sent to the authorization server. */
export interface PopupOptions {
  /**
   * The redirect URI, on this origin. The page at this URI calls {@link completeSignIn}. If no
   * popup is ever used, this may be the page that connects.
   */
  readonly redirectUri: string | URL
  /**
   * Whether to open a popup, or always to redirect the page.
   *
   * @default 'popup'
   */
  readonly mode?: 'popup' | 'redirect'
  /**
   * Whether to redirect the page if popups are blocked.
   *
   * @default true
   */
  readonly leavePage?: boolean
  /**
   * The features of the window, in the format of `window.open`. By default the window has 520 by 720
   * pixels.
   */
  readonly features?: string
}

const STORAGE_KEY = 'edgewise sign-in'
const DEFAULT_FEATURES = 'popup,width=520,height=720'
/** How long the page that waits for the authorization response may take to answer, in milliseconds. */
const ANSWER_MS = 1_000

/** How often to check whether the user has closed the popup, in milliseconds. */
const POLL_MS = 500
/** How many checks to wait for the focus to return to this page, after the popup has closed. */
const CLOSING_POLLS = 3

/** The parameters of an authorization response. */
const RESPONSE_PARAMETERS = ['code', 'state', 'iss', 'error', 'error_description', 'error_uri']

/** What is stored for the tab before the page is left. */
interface StoredFlow {
  /** The parameter `state` of the authorization request. */
  readonly state: string | null
  /** The flow, as `signIn` has serialized it. */
  readonly flow: string
  /** The page to return to. */
  readonly page: string
  /** The URL with the authorization response, once it has arrived. */
  readonly callback?: string
}

/**
 * Signs users in with a popup: pass the result to `signIn` as `interaction`. Connect in response to
 * a click, so that the browser allows the popup. If no popup can be opened, the page is redirected, and loaded
 * again when the user returns. {@link returnedFromSignIn} then returns true: connect again, without a click,
 * and the first request completes the flow.
 *
 * If the user closes the popup, and the focus returns to the page, signing in fails within two seconds. If the
 * focus does not return, the user may still be in a popup that the authorization server has isolated from the
 * page. Signing in then fails after `interactionTimeoutMs` of `signIn`.
 *
 * @example
 * ```ts
 * import { signIn } from 'edgewise/authorization'
 * import { connect, indexedDbTokenStore, popup } from 'edgewise/browser'
 *
 * const auth = signIn({
 *   client: { name: 'My page', metadataUrl: 'https://app.example/client.json' },
 *   interaction: popup({ redirectUri: '/signed-in.html' }), // Its script calls completeSignIn()
 *   tokens: indexedDbTokenStore(),
 * })
 * document.querySelector('button')?.addEventListener('click', async () => {
 *   await using client = await connect('https://example.com/mcp', { auth })
 * })
 * ```
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#authorization-flow-steps
 */
export function popup(options: PopupOptions): AuthorizationFlow {
  const { mode = 'popup', leavePage = true, features = DEFAULT_FEATURES } = options
  const redirectUri = new URL(options.redirectUri, location.href).href
  return {
    begin(): AuthorizationRedirect {
      // Opened before any `await`, because a click allows a popup only for a short time
      const popupWindow = mode === 'popup' ? window.open('about:blank', '_blank', features) : null
      if (!popupWindow && mode === 'popup' && !leavePage)
        throw new Error('The browser blocks the popup')
      return {
        redirectUri,
        go: (url, flow, signal) =>
          popupWindow ? signInWithPopup(popupWindow, url, signal) : redirectPage(url, flow, signal),
        end: () => popupWindow?.close(),
      }
    },
    takeRedirect: takeRedirectResult,
  }
}

/**
 * Passes the authorization response to the page that is waiting for it, and closes this page. If no page
 * is waiting, returns to the page that was left. Call it on the page at `redirectUri`.
 *
 * @returns False if no page is waiting and none was left. Then the user opened this page directly, or the
 *   flow has already ended.
 */
export async function completeSignIn(): Promise<boolean> {
  const callback = location.href
  const state = new URL(callback).searchParams.get('state')
  // Keeps the code out of the history and the `Referer` header
  history.replaceState(null, '', location.pathname)
  if (await notifyWaitingPage(state, callback)) {
    window.close()
    return true
  }
  const stored = readStoredFlow()
  if (!stored || stored.state !== state) return false
  storeFlow({ ...stored, callback })
  location.replace(stored.page)
  return true
}

/** Notifies the waiting page. Does not use `opener`, because the popup may be isolated from that page. */
function notifyWaitingPage(state: string | null, callback: string): Promise<boolean> {
  const channel = new BroadcastChannel(channelName(state))
  return new Promise<boolean>((resolve) => {
    // Resolves with `false` if no page answers
    const timer = setTimeout(resolve, ANSWER_MS, false)
    channel.addEventListener('message', ({ data }) => {
      if (data !== 'taken') return
      clearTimeout(timer)
      resolve(true)
    })
    channel.postMessage({ callback })
  }).finally(() => channel.close())
}

/**
 * Shows the authorization server in the popup. Resolves with the URL of the authorization response.
 */
async function signInWithPopup(
  popupWindow: Window,
  url: string,
  signal: AbortSignal,
): Promise<string> {
  // Until now the popup showed a page of this origin, so `closed` is reliable
  if (popupWindow.closed) throw closedByUser()
  let stopDetecting: (() => void) | undefined
  const channel = new BroadcastChannel(channelName(new URL(url).searchParams.get('state')))
  try {
    return await new Promise<string>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
      channel.addEventListener('message', ({ data }) => {
        if (typeof data?.callback !== 'string') return
        channel.postMessage('taken')
        resolve(data.callback)
      })
      popupWindow.location.replace(url)
      stopDetecting = detectClosing(popupWindow, () => reject(closedByUser()))
    })
  } finally {
    stopDetecting?.()
    // The answer must be sent before the channel is closed
    setTimeout(() => channel.close(), ANSWER_MS)
  }
}

/**
 * Detects that the user closed the popup. A popup that is isolated by `Cross-Origin-Opener-Policy`
 * appears closed too, while the user is still in it. A popup that appears closed therefore counts as
 * closed only if the focus returns to this page at that time.
 */
function detectClosing(popupWindow: Window, onClosed: () => void): () => void {
  // Read now, because phones may suspend this page before the first check
  let hadFocus = document.hasFocus()
  let closedPolls = 0
  let focusedPolls = 0
  const timer = setInterval(() => {
    const hasFocus = document.hasFocus()
    if (!popupWindow.closed) {
      hadFocus = hasFocus
      return
    }
    // If this page had the focus while the popup was open, the focus cannot return to it. Closing the popup
    // then cannot be detected
    if (hadFocus) return clearInterval(timer)
    closedPolls++
    if (hasFocus) focusedPolls++
    // Waits for a second check with the focus, because the authorization response may still be in transit
    if (focusedPolls > 1) onClosed()
    if (closedPolls > CLOSING_POLLS) clearInterval(timer)
  }, POLL_MS)
  return () => clearInterval(timer)
}

function closedByUser(): Error {
  return new Error('The popup was closed')
}

/**
 * Leaves the page for the authorization server. Never resolves, because the page is loaded again
 * after the sign-in.
 */
function redirectPage(url: string, flow: string, signal: AbortSignal): Promise<string> {
  storeFlow({ state: new URL(url).searchParams.get('state'), flow, page: location.href })
  location.assign(url)
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
    // The back/forward cache restores the page only if the user came back without signing in. After a
    // sign-in, the page is loaded again
    const onShow = ({ persisted }: PageTransitionEvent): void => {
      if (persisted) reject(new Error('The user came back without signing in'))
    }
    addEventListener('pageshow', onShow, { signal })
  })
}

/**
 * Returns whether the page was left to sign in and was loaded again with the authorization
 * response, successful or not. If it returns true, connect to complete the sign-in. Returns false once
 * a request has consumed the response.
 */
export function returnedFromSignIn(): boolean {
  return findRedirectResult() !== undefined
}

/**
 * Returns the authorization response if the page was left to sign in, and removes it from the storage and
 * from the URL.
 */
function takeRedirectResult(): RedirectResult | undefined {
  const result = findRedirectResult()
  if (!result) return undefined
  sessionStorage.removeItem(STORAGE_KEY)
  if (result.inUrl) {
    const url = new URL(location.href)
    for (const name of RESPONSE_PARAMETERS) url.searchParams.delete(name)
    history.replaceState(null, '', url)
  }
  return { callback: result.callback, flow: result.flow }
}

/**
 * Finds the authorization response if the page was left to sign in. It is in the storage, or in the URL of
 * this page.
 */
function findRedirectResult(): (RedirectResult & { readonly inUrl: boolean }) | undefined {
  const stored = readStoredFlow()
  if (!stored) return undefined
  const { flow, state } = stored
  const inUrl = state !== null && new URL(location.href).searchParams.get('state') === state
  const callback = stored.callback ?? (inUrl ? location.href : undefined)
  return callback === undefined ? undefined : { callback, flow, inUrl }
}

function storeFlow(stored: StoredFlow): void {
  sessionStorage.setItem(STORAGE_KEY, JSON.stringify(stored))
}

function readStoredFlow(): StoredFlow | undefined {
  const text = sessionStorage.getItem(STORAGE_KEY)
  return text === null ? undefined : JSON.parse(text)
}

/** Names the channel by the state, which only the two pages and the authorization server know. */
function channelName(state: string | null): string {
  return `${STORAGE_KEY} ${state}`
}
