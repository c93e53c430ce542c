/**
 * `fetch` without the time limits that some platforms set by themselves, so that those of the
 * client hold: Node's undici gives up after 300 seconds of silence, Bun after about 360.
 *
 * @see https://undici.nodejs.org/#/docs/api/Dispatcher?id=parameter-dispatchoptions
 */

/** What sends the requests of Node's `fetch`; the application may have set it. */
interface Dispatcher {
  readonly isMockActive?: boolean | undefined
  dispatch(options: object, handler: object): unknown
}

/** Undici publishes its dispatcher under a version for each kind of handlers. */
function dispatcher(version: 1 | 2): Dispatcher | undefined {
  const all = globalThis as { readonly [key: symbol]: unknown }
  return all[Symbol.for(`undici.globalDispatcher.${version}`)] as Dispatcher | undefined
}

/** Members of `init` that platforms without such limits do not know, and ignore. */
const unlimited = {
  dispatcher: {
    get isMockActive() {
      return dispatcher(1)?.isMockActive
    },
    dispatch(options, handler) {
      const real = ('onRequestStart' in handler && dispatcher(2)) || dispatcher(1)
      return real?.dispatch({ ...options, headersTimeout: 0, bodyTimeout: 0 }, handler)
    },
  } satisfies Dispatcher,
  timeout: false,
}

/** Sends a request by the global `fetch`, for as long as its signal allows. */
export function unlimitedFetch(url: string, init: RequestInit): Promise<Response> {
  return fetch(url, { ...init, ...unlimited })
}

/** The limit of a platform that ended a request, where it was one that could not be lifted. */
export function platformLimit(error: unknown): string | undefined {
  const { name, message, cause } = (error ?? {}) as Error
  const code = String((cause as { code?: unknown } | undefined)?.code)
  if (/^UND_ERR_(?:HEADERS|BODY)_TIMEOUT$/.test(code)) return code
  return name === 'TimeoutError' ? `${name}: ${message}` : undefined
}
