/**
 * Steps: side effects of a handler whose results are stored, so that they happen once even if the
 * handler runs again.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */

/**
 * A value after a JSON round trip. An object with `toJSON` becomes what this method returns: a
 * `Date` becomes a string.
 */
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
  /** For each name, a list with the value, or an empty list for `undefined`. It can be stored as JSON. */
  readonly #values: { [name: string]: unknown }
  readonly #onAdd: () => void | Promise<void>
  readonly #names = new Set<string>()

  /**
   * @param values The values of the steps of earlier runs. New values are added to this object.
   * @param onAdd Called after each added value, before the step completes.
   */
  constructor(values: { [name: string]: unknown }, onAdd: () => void | Promise<void> = () => {}) {
    this.#values = values
    this.#onAdd = onAdd
  }

  /**
   * Runs a step, unless an earlier run did. Returns its value after a JSON round trip, which is the
   * same in every run.
   *
   * @throws {TypeError} If the name was already used in this run, or the value cannot be
   *   represented as JSON.
   */
  async run<T>(name: string, work: () => T | Promise<T>): Promise<AsJson<T>> {
    if (this.#names.has(name)) {
      throw new TypeError(
        `The step "${name}" ran already in this call: give each step its own name`,
      )
    }
    this.#names.add(name)
    if (!(name in this.#values)) {
      const value = await work()
      this.#values[name] = value === undefined ? [] : [JSON.parse(JSON.stringify(value))]
      await this.#onAdd()
    }
    // A copy, so that the handler cannot change the stored value.
    return structuredClone((this.#values[name] as AsJson<T>[])[0]) as AsJson<T>
  }
}
