/**
 * A client that reconnects after the connection is lost. It has a state that a user interface can show, and
 * depends on no framework.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
 */
import { backoffMs } from '../patterns/backoff.ts'
import { callHook } from '../patterns/hooks.ts'
import { isTransient } from '../patterns/transient.ts'
import { SdkError } from '../protocol/errors.ts'
import type { Client } from '../client/client.ts'
import { sleep } from '../patterns/abort.ts'
import type {
  ConnectionState,
  ReconnectingClient,
  ReconnectingOptions,
  ReconnectingTarget,
} from './reconnecting-options.ts'
import type { ConnectOptions } from '../client/options.ts'
import type { AuthProvider } from '../protocol/http-options.ts'
import type { Transport } from '../protocol/transport.ts'
import { reportError } from '../client/report-error.ts'
import { unlimitedFetch } from '../transport/http/unlimited-fetch.ts'
import { observeFetch, observeTransport } from './observe-transport.ts'

const IDLE: ConnectionState = { status: 'idle' }
const CONNECTING: ConnectionState = { status: 'connecting' }
/** How long the server may take to answer a ping, in milliseconds. */
const PING_TIMEOUT_MS = 10_000

/** The failure of a connection that was ready. */
interface Failure {
  readonly error: Error
  /** Whether a new client is needed, because the current client can no longer be used. */
  readonly needsNewClient: boolean
}

/** Connects once. */
type Connect = (target: string | URL | Transport, options: ConnectOptions) => Promise<Client>

/** Keeps one client connected. */
export class ReconnectingConnection implements ReconnectingClient {
  readonly #connectClient: Connect
  readonly #target: ReconnectingTarget
  readonly #options: ReconnectingOptions
  readonly #listeners = new Set<() => void>()
  #state = IDLE
  /** Present from `open` until `close` or the final failure. Aborts at that time. */
  #openController: AbortController | undefined
  /** Called when a ready connection fails. */
  #onFailure: ((failure: Failure) => void) | undefined
  /** Aborted by `check`, to end the delay before the next attempt. */
  #retryNow = new AbortController()

  constructor(connect: Connect, target: ReconnectingTarget, options: ReconnectingOptions) {
    this.#connectClient = connect
    this.#target = target
    this.#options = options
  }

  getSnapshot = (): ConnectionState => this.#state

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  open = (): void => {
    if (this.#openController) return
    const openController = new AbortController()
    this.#openController = openController
    this.#setState(CONNECTING)
    const stayConnected = async (): Promise<void> => {
      const stopWaking = this.#options.subscribeToWake?.(this.check)
      await this.#keepConnected(openController.signal).finally(stopWaking)
    }
    stayConnected().catch((error: Error) => {
      if (this.#openController !== openController) return
      this.#openController = undefined
      openController.abort()
      this.#setState({ status: 'failed', error })
    })
  }

  ready = (): Promise<Client> => {
    this.open()
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        const state = this.#state
        if (state.status === 'ready') resolve(state.client)
        else if (state.status === 'failed') reject(state.error)
        else if (state.status === 'idle') reject(new SdkError('CLOSED', 'The client was closed'))
        else return
        unsubscribe()
      }
      const unsubscribe = this.subscribe(settle)
      settle()
    })
  }

  check = (): void => {
    if (this.#state.status !== 'ready') return this.#retryNow.abort()
    const { client } = this.#state
    client.ping({ timeoutMs: PING_TIMEOUT_MS, background: true }).catch((error: Error) => {
      if (mayReconnect(error)) this.#onFailure?.({ error, needsNewClient: !this.#isHttp })
    })
  }

  close = async (): Promise<void> => {
    const state = this.#state
    this.#openController?.abort()
    this.#openController = undefined
    this.#setState(IDLE)
    if ('client' in state) await state.client?.close()
  }

  get #isHttp(): boolean {
    return typeof this.#target !== 'function'
  }

  #setState(state: ConnectionState): void {
    if (this.#state === state) return
    this.#state = state
    for (const listener of this.#listeners) {
      callHook(listener, (error) => reportError(this.#options, error))
    }
  }

  /** Connects, and reconnects whenever the connection is lost. Rejects when it gives up. */
  async #keepConnected(signal: AbortSignal): Promise<void> {
    const { maxRetries = 10, isOffline } = this.#options
    let client: Client | undefined
    /** Aborts when the client is abandoned. */
    let clientAbort = new AbortController()
    /** The number of attempts since the connection was lost, for the state and for the backoff. */
    let attempt = 0
    /** Consecutive failed attempts while the network is available. */
    let failures = 0
    for (;;) {
      this.#retryNow = new AbortController()
      let error: Error
      try {
        if (client) await client.ping({ timeoutMs: PING_TIMEOUT_MS, signal, background: true })
        else client = await this.#connectToTarget(AbortSignal.any([signal, clientAbort.signal]))
        if (signal.aborted) return await client.close()
        attempt = 0
        failures = 0
        const failure = await this.#untilFailure(client, signal)
        if (!failure) return
        error = failure.error
        if (failure.needsNewClient) {
          clientAbort.abort()
          clientAbort = new AbortController()
          void client.close().catch(() => {})
          client = undefined
        }
      } catch (cause) {
        if (signal.aborted) return
        error = cause as Error
        // The first connection is not retried, unless the device has no network
        const isFirstConnect = this.#state === CONNECTING || this.#state.status === 'authenticating'
        failures = isOffline?.(error) ? 0 : failures + 1
        const isExhausted = failures >= maxRetries && !this.#retryNow.signal.aborted
        if (failures > 0 && (isFirstConnect || isExhausted || !mayReconnect(error))) {
          void client?.close().catch(() => {})
          throw error
        }
        if ((error as SdkError).code === 'CLOSED') client = undefined
      }
      this.#setState({ status: 'reconnecting', error, attempt, ...(client && { client }) })
      // A call of `check` is a reason to expect success soon, so the backoff restarts
      if (await this.#waitToRetry(attempt, signal)) {
        attempt = 0
        failures = 0
      } else attempt++
      if (signal.aborted) return
    }
  }

  /** Sets the state `ready` and waits for a failure. Resolves with undefined if the signal aborts first. */
  #untilFailure(client: Client, signal: AbortSignal): Promise<Failure | undefined> {
    return new Promise((resolve) => {
      this.#onFailure = resolve
      signal.addEventListener('abort', () => resolve(undefined), { once: true })
      this.#setState({ status: 'ready', client })
    })
  }

  /**
   * Waits with backoff, or until `check` is called. Returns whether `check` was called since the last
   * attempt began.
   */
  async #waitToRetry(attempt: number, signal: AbortSignal): Promise<boolean> {
    const { retryMs = 1_000, maxRetryMs = 30_000 } = this.#options
    const delayMs = backoffMs(attempt, retryMs, maxRetryMs)
    const { signal: retryNow } = this.#retryNow
    await sleep(delayMs, AbortSignal.any([signal, retryNow])).catch(() => {})
    return retryNow.aborted
  }

  async #connectToTarget(signal: AbortSignal): Promise<Client> {
    const target = this.#target
    const onClosed = (error: Error): void => {
      // Closing an abandoned client is not a failure of the next one
      if (!signal.aborted) this.#onFailure?.({ error, needsNewClient: true })
    }
    const urlOrTransport =
      typeof target === 'function' ? observeTransport(await target(), onClosed) : target
    // `options` omits the options that only a reconnecting client has
    const {
      interaction: _1,
      subscribeToWake: _2,
      isOffline: _3,
      retryMs: _4,
      maxRetryMs: _5,
      maxRetries: _6,
      ...options
    } = this.#options
    const fetch = options.fetch ?? unlimitedFetch
    const anySignal = options.signal ? AbortSignal.any([options.signal, signal]) : signal
    return this.#connectClient(urlOrTransport, {
      ...options,
      signal: anySignal,
      ...(options.auth && { auth: this.#observedAuth(options.auth) }),
      fetch: observeFetch(fetch, (error) => this.#onFailure?.({ error, needsNewClient: false })),
    })
  }

  /** Wraps an auth provider. While it handles a challenge, the state shows the URL that the user has to visit. */
  #observedAuth(auth: AuthProvider): AuthProvider {
    const whileShowingUrl = async (
      work: () => ReturnType<AuthProvider['onChallenge']>,
    ): Promise<boolean> => {
      const previousState = this.#state
      const openController = this.#openController
      const unsubscribe = this.#options.interaction?.subscribe((url) => {
        if (this.#openController === openController)
          this.#setState(url === undefined ? previousState : authenticatingAt(url))
      })
      try {
        return await work()
      } finally {
        unsubscribe?.()
        if (this.#openController === openController && this.#state.status === 'authenticating')
          this.#setState(previousState)
      }
    }
    return {
      ...(auth.extensions && { extensions: auth.extensions }),
      headers: (request) => {
        // The user did not initiate this request, so it must not start a sign-in
        if (this.#state.status === 'reconnecting') request.background = true
        return auth.headers(request)
      },
      onChallenge: (response, request) =>
        whileShowingUrl(() => auth.onChallenge(response, request)),
      onResponse: (response, request) => auth.onResponse?.(response, request),
    }
  }
}

function authenticatingAt(url: string): ConnectionState {
  return { status: 'authenticating', url }
}

function mayReconnect(error: unknown): boolean {
  return isTransient(error) || (error as SdkError).code === 'CLOSED'
}
