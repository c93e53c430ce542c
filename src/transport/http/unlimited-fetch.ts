/**
 * `fetch` without the built-in timeouts of some platforms, so that only the client's timeouts apply. Node's undici times
 * out after 300 seconds without data, and Bun after about 360.
 *
 * @see https://undici.nodejs.org/#/docs/api/Dispatcher?id=parameter-dispatchoptions
 */

/** The global dispatchers of undici, by their symbols. */
type Dispatchers = {
  readonly [key: symbol]: { dispatch(options: object, handler: object): unknown }
}

function dispatcherOf(version: number): Dispatchers[symbol] | undefined {
  return (globalThis as Dispatchers)[Symbol.for(`undici.globalDispatcher.${version}`)]
}

/** Members of `init` that other platforms ignore. */
const unlimited = {
  dispatcher: {
    dispatch(options: object, handler: object) {
      // Looked up for each request, because the application may set another dispatcher. Newer
      // versions of undici have a second one, for handlers with the newer interface
      const globalDispatcher = ('onRequestStart' in handler && dispatcherOf(2)) || dispatcherOf(1)
      return globalDispatcher?.dispatch({ ...options, headersTimeout: 0, bodyTimeout: 0 }, handler)
    },
  },
  timeout: false,
}

/** Sends a request with the global `fetch`. Only the signal limits its duration. */
export function unlimitedFetch(url: string, init: RequestInit): Promise<Response> {
  return fetch(url, { ...init, ...unlimited })
}

/**
 * Describes the platform's timeout that ended a request, if such a timeout could not be disabled. Returns `false` for
 * all other errors.
 */
export function platformLimit(error: unknown): string | false {
  const { name, message, cause } = (error ?? {}) as Error
  const code = String((cause as { code?: unknown } | undefined)?.code)
  if (/^UND_ERR_(?:HEADERS|BODY)_TIMEOUT$/.test(code)) return code
  return name === 'TimeoutError' && message
}
