/**
 * What a server of `edgewise/server/tiny` says in place of what it lacks, where no type keeps a
 * program from using it.
 */

/**
 * Makes members of an object throw that only servers of `edgewise/server` have.
 *
 * @param owner What programs call the object.
 */
export function refuseMembers(object: object, owner: string, names: readonly string[]): void {
  for (const name of names) {
    const get = (): never => {
      const what = `"${owner}.${name}"`
      throw new TypeError(`${what} needs createServer of edgewise/server: change the import`)
    }
    Object.defineProperty(object, name, { get, configurable: true })
  }
}
