/**
 * Rejects options with unknown names. Without this check, a misspelt limit or security option would be
 * ignored silently.
 */

/**
 * The names of all options of a type, as the keys of an object, so that the compiler reports a missing or
 * unknown name. The values have no meaning.
 */
export type OptionNames<T> = { readonly [Name in keyof Required<T>]: 1 }

/**
 * Checks the names of options.
 *
 * @param owner The owner of the options, such as `The tool "add"`.
 * @throws {TypeError} If a name is unknown. The message lists the valid names.
 */
export function requireKnown(owner: string, options: object, names: object): void {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(names, name))
  if (unknown === undefined) return
  const validNames = Object.keys(names).join(', ')
  throw new TypeError(`${owner} has no option "${unknown}"; it has ${validNames}`)
}
