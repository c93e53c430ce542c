/**
 * The fragment of the page's address selects the view, so that links, the Back button and a reload work:
 * `#/` and `#/server` for the server, `#/tool/greet`, `#/prompt/plan`, `#/resource/…`, `#/template/…`,
 * `#/history`, `#/check`, `#/events`. `?arguments=…` fills the form of a tool or a prompt.
 *
 * @see https://developer.mozilla.org/docs/Web/API/Window/hashchange_event
 */
import { isObject, type JsonObject } from 'edgewise/browser'

/** The kinds of entries in the lists of a server. */
export type EntryKind = 'tool' | 'resource' | 'template' | 'prompt'
/** The kinds of views. */
export type Kind = EntryKind | 'server' | 'history' | 'check' | 'events'

/** The selected view. */
export interface Route {
  kind: Kind
  /** A tool's or prompt's name, a resource's URI, a template's URI template; empty for other views. */
  key: string
  /** The arguments that fill the form. */
  arguments?: JsonObject | undefined
}

const entry = /^#\/(tool|resource|template|prompt)\/([^?]+)(?:\?arguments=(.*))?$/
const page = /^#\/(server|history|check|events)$/

/** Returns the fragment for a view. */
export function hrefOf({ kind, key, arguments: values }: Route): string {
  if (key === '') return `#/${kind}`
  const query = values ? `?arguments=${encodeURIComponent(JSON.stringify(values))}` : ''
  return `#/${kind}/${encodeURIComponent(key)}${query}`
}

/** Parses a fragment. Returns `undefined` for the list of all entries. */
export function parseRoute(hash: string): Route | undefined {
  const [, kind = page.exec(hash)?.[1], key = '', text] = entry.exec(hash) ?? []
  if (!kind) return undefined
  try {
    const values: unknown = text && JSON.parse(decodeURIComponent(text))
    return {
      kind: kind as Kind,
      key: decodeURIComponent(key),
      ...(isObject(values) && { arguments: values }),
    }
  } catch {
    return undefined
  }
}
