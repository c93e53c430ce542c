/**
 * The challenges of a `WWW-Authenticate` header.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-11.6.1
 */

/** One challenge: the scheme to authenticate with, and its parameters. */
export interface Challenge {
  /** The authentication scheme in lower case, such as `bearer`. */
  readonly scheme: string
  /** The parameters by their names in lower case. If a parameter is repeated, the first value is used. */
  readonly params: ReadonlyMap<string, string>
}

/**
 * A parameter, or the start of a challenge: a scheme, optionally followed by `token68` data. White
 * space may surround `=`, but a scheme is never followed by `=`.
 */
const PART =
  /[\s,]*(?:([!#$%&'*+.^`|~\w-]+)\s*=\s*(?:"((?:[^"\\]|\\[^])*)"|([^\s",]+))|([!#$%&'*+.^`|~\w-]+)(?=[\s,]|$)(?: +[\w.~+/-]+=*(?=\s*(?:,|$)))?)/y

/**
 * Parses all challenges of a header, or of several headers joined by commas. Parsing stops at the first
 * syntax error; the challenges before it are returned.
 */
export function parseChallenges(header: string): Challenge[] {
  const challenges: { scheme: string; params: Map<string, string> }[] = []
  const nextPart = new RegExp(PART)
  for (let match = nextPart.exec(header); match; match = nextPart.exec(header)) {
    const [, name = '', quoted, token, scheme] = match
    if (scheme) challenges.push({ scheme: scheme.toLowerCase(), params: new Map() })
    const params = challenges.at(-1)?.params
    const key = name.toLowerCase()
    if (name && !params?.has(key))
      params?.set(key, quoted?.replace(/\\([^])/g, '$1') ?? token ?? '')
  }
  return challenges
}
