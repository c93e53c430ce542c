/**
 * What the page shows is in the fragment of its address, so that links, the Back button and a
 * reload work: `#/`, `#/tool/greet`, `#/prompt/plan`, `#/resource/…`, `#/template/…`.
 *
 * @see https://developer.mozilla.org/docs/Web/API/Window/hashchange_event
 */

/** The kinds of things that a server lists. */
export type Kind = 'tool' | 'resource' | 'template' | 'prompt'

/** What is selected; nothing for the server itself. */
export interface Route {
  kind: Kind
  /** A tool's or prompt's name, a resource's URI, a template's URI template. */
  key: string
}

const pattern = /^#\/(tool|resource|template|prompt)\/(.+)$/

/** The address of a thing. */
export function hrefOf({ kind, key }: Route): string {
  return `#/${kind}/${encodeURIComponent(key)}`
}

/** Reads an address; `undefined` is the server itself. */
export function parseRoute(hash: string): Route | undefined {
  const [, kind, key] = pattern.exec(hash) ?? []
  if (!kind || !key) return undefined
  try {
    return { kind: kind as Kind, key: decodeURIComponent(key) }
  } catch {
    return undefined
  }
}
