/**
 * The fragment of the page's address selects the view, so that links, the Back button and a reload work:
 * `#/`, `#/tool/greet`, `#/prompt/plan`, `#/resource/…`, `#/template/…`.
 *
 * @see https://developer.mozilla.org/docs/Web/API/Window/hashchange_event
 */

/** The kinds of entries in the lists of a server. */
export type Kind = 'tool' | 'resource' | 'template' | 'prompt'

/** The selected entry. The server itself has no route. */
export interface Route {
  kind: Kind
  /** A tool's or prompt's name, a resource's URI, a template's URI template. */
  key: string
}

const pattern = /^#\/(tool|resource|template|prompt)\/(.+)$/

/** Returns the fragment for an entry. */
export function hrefOf({ kind, key }: Route): string {
  return `#/${kind}/${encodeURIComponent(key)}`
}

/** Parses a fragment. Returns `undefined` for the server itself. */
export function parseRoute(hash: string): Route | undefined {
  const [, kind, key] = pattern.exec(hash) ?? []
  if (!kind || !key) return undefined
  try {
    return { kind: kind as Kind, key: decodeURIComponent(key) }
  } catch {
    return undefined
  }
}
