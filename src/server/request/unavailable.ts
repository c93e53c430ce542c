/**
 * Errors for features that servers of `edgewise/server/tiny` lack, for untyped code.
 */

/**
 * Defines getters that throw, in place of members that exist only on servers of `edgewise/server`.
 *
 * @param owner The name of the object, for the error message.
 * @param names The names of these members.
 */
export function rejectMembers(object: object, owner: string, names: readonly string[]): void {
  for (const name of names) {
    const get = (): never => {
      const member = `"${owner}.${name}"`
      throw new TypeError(`${member} needs createServer of edgewise/server: change the import`)
    }
    Object.defineProperty(object, name, { get, configurable: true })
  }
}
