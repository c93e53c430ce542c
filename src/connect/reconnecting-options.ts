/**
 * The states and options of a reconnecting client.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
 */
import type { Transport } from '../protocol/transport.ts'
import type { Client } from '../client/client.ts'
import type { ConnectOptions } from '../client/options.ts'
import type { SignInObserver } from '../authorization/observe-sign-in.ts'

/** The target of a {@link ReconnectingClient}. A function creates a transport for each attempt. */
export type ReconnectingTarget = string | URL | (() => Transport | Promise<Transport>)

/** The state of a {@link ReconnectingClient}. Each new state is a new object, so compare states by identity. */
export type ConnectionState =
  /** Not opened yet, or closed. */
  | { readonly status: 'idle' }
  /** Negotiating with the server. */
  | { readonly status: 'connecting' }
  /** Waiting for the user to sign in at a URL. */
  | { readonly status: 'authenticating'; readonly url: string }
  /** Connected. */
  | { readonly status: 'ready'; readonly client: Client }
  /**
   * The server is currently unreachable, and the client tries to connect again. Over HTTP, the state
   * includes the client, which stays the same and may still be used.
   */
  | {
      readonly status: 'reconnecting'
      /** Why the connection was lost. */
      readonly error: Error
      /** The number of attempts since the connection was lost. */
      readonly attempt: number
      readonly client?: Client
    }
  /** Failed, and not retried until `open` is called again. */
  | { readonly status: 'failed'; readonly error: Error }

/** Options of {@link createReconnectingClient}. */
export interface ReconnectingOptions extends ConnectOptions {
  /**
   * The delay before the first retry, in milliseconds. It doubles before each further retry.
   *
   * @default 1000
   */
  readonly retryMs?: number | undefined
  /**
   * The maximum delay before a retry, in milliseconds.
   *
   * @default 30000
   */
  readonly maxRetryMs?: number | undefined
  /**
   * The maximum number of consecutive retries after a connection is lost. Failures without a network do
   * not count.
   *
   * @default 10
   */
  readonly maxRetries?: number | undefined
  /** The result of `observeSignIn`. With it, the state includes the URL that the user has to visit. */
  readonly interaction?: SignInObserver | undefined
  /**
   * Calls `check` when it is worth testing whether the server is still reachable, for example when a
   * device is back online. Returns a function that stops the calls.
   */
  readonly subscribeToWake?: ((check: () => void) => () => void) | undefined
  /**
   * Whether a failure means that this device has no network. After such a failure, the client retries
   * indefinitely, even if the first attempt failed. By default, only a `FetchFault` of kind `offline`, which
   * occurs in browsers, is such a failure.
   */
  readonly isOffline?: ((error: Error) => boolean) | undefined
}

/** A connection as a store: `subscribe` and `getSnapshot` fit React's `useSyncExternalStore`. */
export interface ReconnectingClient {
  /** Returns the current state. */
  readonly getSnapshot: () => ConnectionState
  /** Calls a function after each change of the state. Returns a function that unsubscribes. */
  readonly subscribe: (listener: () => void) => () => void
  /** Starts to connect, unless it has started already. May be called again after `failed` and `close`. */
  readonly open: () => void
  /** Opens, and resolves with the client once connected. Rejects if the connection fails or is closed. */
  readonly ready: () => Promise<Client>
  /** Tests immediately whether the server is reachable. */
  readonly check: () => void
  /** Closes the connection. */
  readonly close: () => Promise<void>
}
