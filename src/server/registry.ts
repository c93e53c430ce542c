/**
 * The named entries of a server, such as its tools. The entries can change while the server is running.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server
 */
import {
  UNKNOWN_CLIENT,
  type ClientFacts,
  type Requester,
  type Viewer,
} from './request/exchange.ts'
import { invalidParams } from './request/params.ts'

/** The names of the options that tools, prompts and resources share. The values have no meaning. */
export const COMMON_OPTIONS = { title: 1, description: 1, icons: 1, meta: 1, visible: 1 } as const

/** The members of every registered entry. */
export interface Entry {
  /** Disabled entries are neither listed nor found. */
  readonly enabled: boolean
  /** Whether a caller may see and use the entry. By default every caller may. */
  readonly visible?: ((viewer: Viewer) => boolean) | undefined
  /** The scopes that using the entry requires, if the server is protected. */
  readonly scopes?: readonly string[] | undefined
  /** The entry as it appears in lists. */
  readonly item: object
}

/**
 * Whether a requester may see an entry.
 *
 * @param client The client that the option `visible` receives. By default `requester.client`.
 */
export function isVisible(
  { visible }: Pick<Entry, 'visible'>,
  { principal, auth, env, request, client: defaultClient = UNKNOWN_CLIENT }: Requester,
  client: ClientFacts = defaultClient,
): boolean {
  return !visible || visible({ principal, auth, env, request, client })
}

/**
 * Checks that a handler is a function.
 *
 * @param label The subject of the error message.
 * @throws {TypeError} If it is not a function.
 */
export function requireHandler<T>(handler: T, label: string): T {
  if (typeof handler === 'function') return handler
  throw new TypeError(`${label} needs a function as its last argument`)
}

/** Changes an entry after its registration. Each change is announced to clients. */
export interface Registration {
  /** Shows the entry again. */
  enable(): void
  /** Hides the entry until it is enabled. */
  disable(): void
  /** Removes the entry permanently. */
  remove(): void
}

/** The registration of an entry that can be replaced. */
export interface ReplaceableRegistration<T extends Entry> extends Registration {
  replace(entry: T): void
}

/** Entries by key, in insertion order. */
export class Registry<T extends Entry> {
  readonly #kind: string
  readonly #entries = new Map<string, T>()
  readonly #onChange: () => void
  /** The enabled entries. Absent after a change, until they are needed again. */
  #enabled: readonly T[] | undefined
  #restricted = false
  #used = false

  /** @param kind What an entry is called in errors, such as `tool`. */
  constructor(kind: string, onChange: () => void) {
    this.#kind = kind
    this.#onChange = onChange
  }

  /**
   * Whether an entry was ever registered, or {@link declare} was called. If so, the server declares
   * the capability, even if there are no entries now.
   */
  get used(): boolean {
    return this.#used
  }

  /** Whether any entry ever had the option `visible`. If so, the list may depend on the caller. */
  get restricted(): boolean {
    return this.#restricted
  }

  /** Makes the server declare the capability, even if there are no entries. */
  declare(): void {
    if (this.#used) return
    this.#used = true
    this.#announceChange()
  }

  /** Every entry with its key, including disabled entries. */
  entries(): ReadonlyMap<string, T> {
    return this.#entries
  }

  /**
   * Checks that no entry has the key.
   *
   * @throws {TypeError} If the key is already taken.
   */
  requireFree(key: string): void {
    if (this.#entries.has(key)) throw new TypeError(`The ${this.#kind} "${key}" exists already`)
  }

  /**
   * Adds an entry.
   *
   * @throws {TypeError} If the key is already taken.
   */
  add(key: string, entry: T): ReplaceableRegistration<T> {
    this.requireFree(key)
    this.#used = true
    let current = entry
    // False after the entry was removed, even if the key was registered again
    const isCurrent = (): boolean => this.#entries.get(key) === current
    const setEntry = (next: T): void => {
      current = next
      this.#entries.set(key, next)
      if (next.visible) this.#restricted = true
      this.#announceChange()
    }
    const setEnabled = (enabled: boolean): void => {
      if (isCurrent() && current.enabled !== enabled) setEntry({ ...current, enabled })
    }
    setEntry(entry)
    return {
      enable: () => setEnabled(true),
      disable: () => setEnabled(false),
      replace: (next) => {
        if (isCurrent()) setEntry({ ...next, enabled: current.enabled })
      },
      remove: () => {
        if (isCurrent()) this.remove(key)
      },
    }
  }

  /** Removes an entry. */
  remove(key: string): void {
    if (this.#entries.delete(key)) this.#announceChange()
  }

  /**
   * Returns the entry with that key, if the requester may see it.
   *
   * @param client The client that the option `visible` receives, in place of `requester.client`.
   */
  find(key: string, requester: Requester, client?: ClientFacts): T | undefined {
    const entry = this.#entries.get(key)
    return entry?.enabled && isVisible(entry, requester, client) ? entry : undefined
  }

  /**
   * Returns the entry with that key, if the requester may see it.
   *
   * @throws {ProtocolError} `INVALID_PARAMS` if there is no such entry, or the requester may not see it.
   */
  require(key: string, requester: Requester): T {
    const entry = this.find(key, requester)
    if (entry) return entry
    throw invalidParams(`Unknown ${this.#kind}: "${key}"`)
  }

  /**
   * Returns the enabled entries that the requester may see. If no entry has ever had the option `visible`,
   * returns the same array until an entry changes.
   */
  list(requester: Requester): readonly T[] {
    this.#enabled ??= [...this.#entries.values()].filter((entry) => entry.enabled)
    if (!this.#restricted) return this.#enabled
    return this.#enabled.filter((entry) => isVisible(entry, requester))
  }

  #announceChange(): void {
    this.#enabled = undefined
    this.#onChange()
  }
}
