/**
 * A named list of what a server offers, that can change while it is served.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server
 */
import { UNKNOWN_CLIENT, type Requester, type Viewer } from './request/exchange.ts'
import { invalidParams } from './request/params.ts'

/** The options that tools, prompts and resources share. */
export const COMMON_OPTIONS = { title: 1, description: 1, icons: 1, meta: 1, visible: 1 } as const

/** What every registered thing has. */
export interface Entry {
  /** Disabled things are neither listed nor found. */
  readonly enabled: boolean
  /** Whether a caller may see and use the thing; everybody by default. */
  readonly visible?: ((viewer: Viewer) => boolean) | undefined
  /** The scopes that the use of the thing needs, where the server is protected. */
  readonly scopes?: readonly string[] | undefined
  /** How lists describe the thing. */
  readonly item: object
}

/** Whether a requester may see an entry. */
export function isVisible({ visible }: Pick<Entry, 'visible'>, requester: Requester): boolean {
  if (!visible) return true
  const { principal, auth, env, request, client = UNKNOWN_CLIENT } = requester
  return visible({ principal, auth, env, request, client })
}

/**
 * Checks that something answers.
 *
 * @throws {TypeError} otherwise.
 */
export function requireHandler<T>(handler: T, what: string): T {
  if (typeof handler === 'function') return handler
  throw new TypeError(`${what} needs a function as its last argument`)
}

/** Changes a registered thing later; each change is announced to clients. */
export interface Registration {
  /** Lists the thing again. */
  enable(): void
  /** Hides the thing until it is enabled. */
  disable(): void
  /** Takes the thing away for good. */
  remove(): void
}

/** A registration of one entry, which another can take the place of. */
export interface ReplaceableRegistration<T extends Entry> extends Registration {
  replace(entry: T): void
}

/** Holds entries by key, in the order in which they were added. */
export class Registry<T extends Entry> {
  readonly #kind: string
  readonly #entries = new Map<string, T>()
  readonly #changed: () => void
  #listed: readonly T[] | undefined
  #restricted = false
  #used = false

  constructor(kind: string, changed: () => void) {
    this.#kind = kind
    this.#changed = changed
  }

  /** Whether anything was ever registered: a capability is not withdrawn when its list is empty. */
  get used(): boolean {
    return this.#used
  }

  /** Whether callers may see different entries, or could before a hidden one was removed. */
  get restricted(): boolean {
    return this.#restricted
  }

  /** Offers the list even if it is empty. */
  offer(): void {
    if (this.#used) return
    this.#used = true
    this.#change()
  }

  /** Every entry with its key, disabled ones too. */
  entries(): ReadonlyMap<string, T> {
    return this.#entries
  }

  /**
   * Checks that an entry can be added.
   *
   * @throws {TypeError} when the key is taken.
   */
  requireFree(key: string): void {
    if (this.#entries.has(key)) throw new TypeError(`The ${this.#kind} "${key}" exists already`)
  }

  /**
   * Adds an entry.
   *
   * @throws {TypeError} when the key is taken.
   */
  add(key: string, entry: T): ReplaceableRegistration<T> {
    this.requireFree(key)
    this.#used = true
    let current = entry
    const holds = (): boolean => this.#entries.get(key) === current
    const put = (next: T): void => {
      current = next
      this.#entries.set(key, next)
      if (next.visible) this.#restricted = true
      this.#change()
    }
    put(entry)
    return {
      enable: () => holds() && !current.enabled && put({ ...current, enabled: true }),
      disable: () => holds() && current.enabled && put({ ...current, enabled: false }),
      replace: (next) => holds() && put({ ...next, enabled: current.enabled }),
      remove: () => {
        if (!holds()) return
        this.#entries.delete(key)
        this.#change()
      },
    }
  }

  /** The entry of that key, if the caller may use it. */
  find(key: string, requester: Requester): T | undefined {
    const entry = this.#entries.get(key)
    return entry?.enabled && isVisible(entry, requester) ? entry : undefined
  }

  /**
   * The entry, if the caller may see it.
   *
   * @throws {ProtocolError} `INVALID_PARAMS` otherwise.
   */
  require(key: string, requester: Requester): T {
    const entry = this.find(key, requester)
    if (entry) return entry
    throw invalidParams(`Unknown ${this.#kind}: "${key}"`)
  }

  /** What the caller may see. The same array until something changes, unless visibility differs. */
  list(requester: Requester): readonly T[] {
    this.#listed ??= [...this.#entries.values()].filter((entry) => entry.enabled)
    if (!this.#restricted) return this.#listed
    return this.#listed.filter((entry) => isVisible(entry, requester))
  }

  #change(): void {
    this.#listed = undefined
    this.#changed()
  }
}
