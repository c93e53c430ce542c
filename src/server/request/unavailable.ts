/**
 * What a server of `edgewise/server/tiny` says in place of what it lacks, where no type keeps a
 * program from using it.
 */

/** The error of using what only servers of `edgewise/server` have. */
export function unavailable(what: string): TypeError {
  return new TypeError(`"${what}" needs createServer of edgewise/server: change the import`)
}
