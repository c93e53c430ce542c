/**
 * Detects that the user has signed in again. Background streams may not start a sign-in themselves. If the
 * server rejects their token, they wait until another request has signed in.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 */
import { abortable } from '../../patterns/abort.ts'
import type { HttpOptions } from '../../protocol/http-options.ts'

type Fetch = NonNullable<HttpOptions['fetch']>

/** Watches the credentials of all requests of a client. */
export interface SignInWatch {
  /** Sends a request, and notes whether its token was accepted. */
  readonly fetch: Fetch
  /** Waits until the server accepts a different token than the last rejected one. */
  readonly untilSignedIn: (signal: AbortSignal) => Promise<void>
}

/** Creates a watch over the requests that `send` sends. */
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
