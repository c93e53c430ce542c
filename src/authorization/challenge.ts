/**
 * The challenges of a `WWW-Authenticate` header.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-11.6.1
 */

/** One challenge: how to authenticate, and what the server tells about it. */
export interface Challenge {
  /** In lower case, such as `bearer`. */
  readonly scheme: string
  /** By lower-case names. A parameter that is given twice has its first value. */
  readonly params: ReadonlyMap<string, string>
}

/**
 * A parameter, or what begins a challenge: a scheme with the data that it may have in one piece.
 * White space may stand around `=`, but a scheme is not followed by one.
 */
const PART =
  /[\s,]*(?:([!#$%&'*+.^`|~\w-]+)\s*=\s*(?:"((?:[^"\\]|\\[^])*)"|([^\s",]+))|([!#$%&'*+.^`|~\w-]+)(?=[\s,]|$)(?: +[\w.~+/-]+=*(?=\s*(?:,|$)))?)/y

/**
 * Reads all challenges of a header, or of several that were joined by commas. What cannot be read
 * ends the reading; the challenges before it count.
 */
export function parseChallenges(header: string): Challenge[] {
  const challenges: { scheme: string; params: Map<string, string> }[] = []
  const part = new RegExp(PART)
  for (let match = part.exec(header); match; match = part.exec(header)) {
    const [, name = '', quoted, token, scheme] = match
    if (scheme) challenges.push({ scheme: scheme.toLowerCase(), params: new Map() })
    const params = challenges.at(-1)?.params
    const key = name.toLowerCase()
    if (name && !params?.has(key))
      params?.set(key, quoted?.replace(/\\([^])/g, '$1') ?? token ?? '')
  }
  return challenges
}
