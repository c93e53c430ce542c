/**
 * `fetch` without the time limits that some platforms set by themselves, so that those of the
 * client hold: Node's undici gives up after 300 seconds of silence, Bun after about 360.
 *
 * @see https://undici.nodejs.org/#/docs/api/Dispatcher?id=parameter-dispatchoptions
 */

/** What undici keeps of itself in the global object, by name. */
type Dispatchers = {
  readonly [key: symbol]: { dispatch(options: object, handler: object): unknown }
}

function dispatcherOf(version: number): Dispatchers[symbol] | undefined {
  return (globalThis as Dispatchers)[Symbol.for(`undici.globalDispatcher.${version}`)]
}

/** Members of `init` that platforms without such limits do not know, and ignore. */
const unlimited = {
  dispatcher: {
    dispatch(options: object, handler: object) {
      // The application may have set it; newer versions have another for newer handlers
      const real = ('onRequestStart' in handler && dispatcherOf(2)) || dispatcherOf(1)
      return real?.dispatch({ ...options, headersTimeout: 0, bodyTimeout: 0 }, handler)
    },
  },
  timeout: false,
}

/** Sends a request by the global `fetch`, for as long as its signal allows. */
export function unlimitedFetch(url: string, init: RequestInit): Promise<Response> {
  return fetch(url, { ...init, ...unlimited })
}

/** The limit of a platform that ended a request, where it was one that could not be lifted. */
export function platformLimit(error: unknown): string | false {
  const { name, message, cause } = (error ?? {}) as Error
  const code = String((cause as { code?: unknown } | undefined)?.code)
  if (/^UND_ERR_(?:HEADERS|BODY)_TIMEOUT$/.test(code)) return code
  return name === 'TimeoutError' && message
}
