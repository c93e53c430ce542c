/**
 * Options whose names nobody reads are refused where they are given: a limit or a check that is
 * misspelt would be ignored in silence.
 */

/** The names of all options of a type: the compiler knows when one is missing. */
export type OptionNames<T> = { readonly [Name in keyof Required<T>]: 1 }

/**
 * Checks the names of options.
 *
 * @param what Whose options they are, such as `The tool "add"`.
 * @throws {TypeError} when one is unknown; says which there are.
 */
export function requireKnown(what: string, options: object, names: object): void {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(names, name))
  if (unknown === undefined) return
  const known = Object.keys(names).join(', ')
  throw new TypeError(`${what} has no option "${unknown}", it has ${known}`)
}
