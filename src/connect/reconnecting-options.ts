/**
 * The states of a reconnecting client, and its options.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
 */
import type { Transport } from '../protocol/transport.ts'
import type { Client } from '../client/client.ts'
import type { ConnectOptions } from '../client/options.ts'
import type { SignInObserver } from '../authorization/observe-sign-in.ts'

/** Where a {@link ReconnectingClient} goes: a URL, or what makes a transport for each attempt. */
export type ReconnectingTarget = string | URL | (() => Transport | Promise<Transport>)

/** What a {@link ReconnectingClient} is doing. One object per state, for comparison by identity. */
export type ConnectionState =
  /** Nothing: not opened yet, or closed. */
  | { readonly status: 'idle' }
  /** Finding out what the server is. */
  | { readonly status: 'connecting' }
  /** Waiting for the user to sign in at a URL. */
  | { readonly status: 'authenticating'; readonly url: string }
  /** Connected. */
  | { readonly status: 'ready'; readonly client: Client }
  /**
   * The server cannot be reached at the moment, and is tried again. Over HTTP the client is still
   * the same, and may be used; then it is here.
   */
  | {
      readonly status: 'reconnecting'
      /** Why. */
      readonly error: Error
      /** How often it was tried since. */
      readonly attempt: number
      readonly client?: Client
    }
  /** It will not work without somebody's doing; `open` tries again. */
  | { readonly status: 'failed'; readonly error: Error }

/** Options of {@link createReconnectingClient}. */
export interface ReconnectingOptions extends ConnectOptions {
  /** The first wait before trying again, in milliseconds; doubled each time. Default: 1 s. */
  readonly retryMs?: number | undefined
  /** The longest wait before trying again, in milliseconds. Default: 30 s. */
  readonly maxRetryMs?: number | undefined
  /** How often to try again in a row, once it has worked and there is a network. Default: 10. */
  readonly maxRetries?: number | undefined
  /** What `observeSignIn` returned, so that the state has the URL that the user has to go to. */
  readonly signIn?: SignInObserver | undefined
  /**
   * Tells when it is worth looking whether the server can still be reached, such as when a device is
   * back online; returns what stops that.
   */
  readonly onWake?: ((check: () => void) => () => void) | undefined
  /**
   * Whether a failure means that this device has no network. Such a one is waited out however long,
   * the very first one too. Default: none does; in a browser, a `FetchFault` of kind `offline`.
   */
  readonly isOffline?: ((error: Error) => boolean) | undefined
}

/** A connection as a store: `subscribe` and `getSnapshot` are what `useSyncExternalStore` wants. */
export interface ReconnectingClient {
  /** The state. */
  readonly getSnapshot: () => ConnectionState
  /** Calls a function after each change of the state; returns what stops that. */
  readonly subscribe: (listener: () => void) => () => void
  /** Connects, unless that was begun already. Also after `failed`, and after `close`. */
  readonly open: () => void
  /** The client as soon as it is there. Opens. Rejects when the connection fails or is closed. */
  readonly ready: () => Promise<Client>
  /** Looks whether the server can be reached, now. */
  readonly check: () => void
  /** Ends the connection. */
  readonly close: () => Promise<void>
}
