/**
 * JSON of unknown origin. It must be unambiguous, and its depth is limited.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7493
 */

/** How deep objects and lists may be nested; cards and catalogs need at most 10 levels. */
const MAX_DEPTH = 64

/** A string, with its colon if it is the name of a member; or a brace or a bracket. */
const TOKEN = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[{}[\]]/g

/**
 * Parses JSON.
 *
 * @throws {SyntaxError} If it is not JSON, an object has two members with one name, or values are
 *   nested too deeply.
 */
export function parseStrictJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  // For each object or list that is still open, the names of its members so far
  const openNames: Set<unknown>[] = []
  for (const [token, string, colon] of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') {
      const depth = openNames.push(new Set())
      if (depth > MAX_DEPTH) throw new SyntaxError('It is nested too deeply')
    } else if (token === '}' || token === ']') openNames.pop()
    else if (colon !== undefined) {
      const name: unknown = JSON.parse(string ?? '')
      const names = openNames.at(-1)
      if (names?.has(name)) throw new SyntaxError(`It contains the member ${string} twice`)
      names?.add(name)
    }
  }
  return value
}
