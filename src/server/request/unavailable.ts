/**
 * Errors for features that servers of `edgewise/server/tiny` do not have.
 */

/**
 * Defines getters that throw, in place of members that exist only on servers of `edgewise/server`.
 *
 * @param owner The name of the object, for the error message.
 * @param names The names of the missing members.
 */
export function rejectMembers(object: object, owner: string, names: readonly string[]): void {
  for (const name of names) {
    const get = (): never => {
      throw unavailable(`"${owner}.${name}"`)
    }
    Object.defineProperty(object, name, { get, configurable: true })
  }
}

/**
 * Creates the error for the use of a missing feature.
 *
 * @param feature The feature, as the subject of the error message.
 */
export function unavailable(feature: string): TypeError {
  return new TypeError(`${feature} needs createServer of edgewise/server: change the import`)
}
