/**
 * Signs the user in to servers that require it, in a popup, which opens `callback.html` at the end. The
 * tokens are stored in IndexedDB, for all tabs of the browser. Loaded on demand.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 */
import { signIn, type AuthorizationFlow, type SignIn } from 'edgewise/authorization'
import { indexedDbTokenStore, pageFetch, popup } from 'edgewise/browser'
import type { SignInPrompt } from '../connection/status.ts'
import { observeSteps } from './observe.ts'
import type { StepRecorder } from './steps.ts'

type Redirect = Awaited<ReturnType<AuthorizationFlow['begin']>>

const tokens = indexedDbTokenStore()
const windows = popup({ redirectUri: new URL('callback.html', document.baseURI), leavePage: false })

/** Creates the authorization of one server's requests, with all that signing in needs. */
export function createSignIn(
  steps: StepRecorder,
  onPrompt: (prompt: SignInPrompt | undefined) => void,
): SignIn {
  const interaction = interactive(steps, onPrompt)
  const fetch = pageFetch({
    fetch: observeSteps(steps, (url, init) => globalThis.fetch(url, init)),
  })
  return signIn({ client: { name: 'Edgewise playground' }, tokens, interaction, fetch })
}

/**
 * Asks the user to open the window unless it opens in response to an earlier click, so that a link to the
 * page cannot open another site. The user can open the window again after closing it.
 */
function interactive(
  steps: StepRecorder,
  onPrompt: (prompt: SignInPrompt | undefined) => void,
): AuthorizationFlow {
  /** Opens a window in response to a click of the user. */
  function whenClicked(): Promise<Redirect> {
    return new Promise((resolve, reject) => {
      onPrompt({
        phase: 'required',
        site: undefined,
        open: () => resolve(openWindow()),
        cancel: () => reject(cancelled()),
      })
    }).finally(() => onPrompt(undefined)) as Promise<Redirect>
  }

  /** Sends the user to a URL, and resolves with the URL that the user was redirected to. */
  function visit(first: Redirect, url: string, flow: string, signal: AbortSignal): Promise<string> {
    const { host: site, origin, pathname, searchParams } = new URL(url)
    const end = steps.begin('Sign-in page', origin + pathname)
    let latest = first
    const visiting = new Promise<string>((resolve, reject) => {
      const show = (phase: SignInPrompt['phase']): void =>
        onPrompt({
          phase,
          site,
          open: () => void openWindow().then(go, () => show('closed')),
          cancel: () => reject(cancelled()),
        })
      const go = (redirect: Redirect): void => {
        if (latest !== redirect) void latest.end?.()
        latest = redirect
        show('open')
        redirect.go(url, flow, signal).then(resolve, (error: unknown) => {
          // An earlier window was closed in favor of this one
          if (redirect !== latest) return
          if (signal.aborted) reject(error)
          else show('closed')
        })
      }
      go(first)
    })
    const requested = Object.fromEntries(
      ['client_id', 'scope', 'resource'].flatMap((name) => {
        const value = searchParams.get(name)
        return value === null ? [] : [[name, value]]
      }),
    )
    return visiting
      .then(
        (callback) => {
          const { searchParams: params } = new URL(callback)
          const error = params.get('error')
          const parts = [error, params.get('error_description')].filter(Boolean)
          const summary = error ? parts.join(': ') : 'The user came back'
          end({ state: error ? 'failed' : 'done', said: { requested }, summary })
          return callback
        },
        (error: unknown) => {
          end({ state: 'failed', said: { requested }, summary: 'The user did not return' })
          throw error
        },
      )
      .finally(() => {
        void latest.end?.()
        onPrompt(undefined)
      })
  }

  return {
    async begin() {
      const canOpen = navigator.userActivation.isActive
      const redirect = await (canOpen ? openWindow().catch(whenClicked) : whenClicked())
      return {
        redirectUri: redirect.redirectUri,
        go: (url, flow, signal) => visit(redirect, url, flow, signal),
        end: () => redirect.end?.(),
      }
    },
  }
}

/** Opens a window. Rejects if the browser blocks it. */
async function openWindow(): Promise<Redirect> {
  return windows.begin(undefined)
}

function cancelled(): Error {
  return new Error('You cancelled the sign-in')
}
