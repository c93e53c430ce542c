/**
 * Steps: side effects of a handler that are kept, so that they happen once however often it runs.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */

/** What JSON makes of a value: what has a `toJSON` is what that gives, such as a date its text. */
export type AsJson<T> = T extends string | number | boolean | null | undefined
  ? T
  : T extends { toJSON(): infer Json }
    ? AsJson<Json>
    : T extends (...args: never[]) => unknown
      ? never
      : T extends object
        ? { [K in keyof T]: AsJson<T[K]> }
        : T

/** The steps of one run of a handler. */
export class Steps {
  /** By name: a list of the value, or an empty one where there was none. Plain JSON. */
  readonly #kept: { [name: string]: unknown }
  readonly #changed: () => void | Promise<void>
  readonly #ran = new Set<string>()

  /**
   * @param kept What earlier runs left; new values are added.
   * @param changed Learns of each value that is added, before the step is over.
   */
  constructor(kept: { [name: string]: unknown }, changed: () => void | Promise<void> = () => {}) {
    this.#kept = kept
    this.#changed = changed
  }

  /**
   * Runs a step that did not run before, and gives its value as JSON keeps it, in every run alike.
   *
   * @throws {TypeError} when the name was used in this run, or JSON cannot hold the value.
   */
  async run<T>(name: string, work: () => T | Promise<T>): Promise<AsJson<T>> {
    if (this.#ran.has(name)) {
      throw new TypeError(
        `The step "${name}" ran already in this call: give each step its own name`,
      )
    }
    this.#ran.add(name)
    if (!(name in this.#kept)) {
      const value = await work()
      this.#kept[name] = value === undefined ? [] : [JSON.parse(JSON.stringify(value))]
      await this.#changed()
    }
    // A copy, so that what the handler does to it is not kept.
    return structuredClone((this.#kept[name] as AsJson<T>[])[0]) as AsJson<T>
  }
}
