/**
 * Detects that the user has signed in again. A background stream may not start a sign-in itself. If the server rejects
 * its token, the stream waits until another request of the client has signed in.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 */
import { abortable } from '../../patterns/abort.ts'
import type { HttpOptions } from '../../protocol/http-options.ts'

type Fetch = NonNullable<HttpOptions['fetch']>

/** Watches which tokens the server accepts in the requests of a client. */
export interface SignInWatch {
  /** Sends a request, and notes whether its token was accepted. */
  readonly fetch: Fetch
  /** Waits until the server accepts another token than the one that it rejected last. */
  readonly untilSignedIn: (signal: AbortSignal) => Promise<void>
}

/** Watches the requests that are sent with the returned `fetch`, which calls `send`. */
export function watchSignIn(send: Fetch): SignInWatch {
  /** The last rejected token; `undefined` once a different token was accepted. */
  let rejectedToken: string | null | undefined
  const waiters: (() => void)[] = []
  const tokenOf = ({ headers }: RequestInit): string | null =>
    new Headers(headers).get('authorization')
  return {
    async fetch(url, init) {
      const response = await send(url, init)
      const { ok, status } = response
      if (status === 401) {
        rejectedToken = tokenOf(init)
      } else if (
        rejectedToken !== undefined &&
        (ok || status >= 400) &&
        tokenOf(init) !== rejectedToken
      ) {
        // The server accepted another token. A redirect would say nothing about the token
        rejectedToken = undefined
        for (const resolve of waiters.splice(0)) resolve()
      }
      return response
    },
    async untilSignedIn(signal) {
      const signedIn = new Promise<void>((resolve) => waiters.push(resolve))
      await abortable(signedIn, signal)
    },
  }
}
