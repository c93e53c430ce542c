/**
 * What to do about an entry that the server does not list: reasons, and entries with similar names. Loaded on
 * demand.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#list-changed-notification
 */
import { titleOf, type Catalog } from '../catalog.ts'
import { el } from '../dom.ts'
import { hrefOf, type Route } from '../route.ts'

/** The maximum number of entries that are suggested. */
const MAX_SUGGESTIONS = 5
/** The maximum length of a name that is compared, in characters. */
const MAX_COMPARED = 200
/** How similar a suggested name must be; equal names have 1. */
const MIN_SIMILARITY = 0.3

/** An entry of a list of the server. */
export interface Candidate extends Route {
  readonly title: string
}

/** Shows why an entry may be missing, and links to similar ones. */
export function missingAdvice(key: string, catalog: Catalog): HTMLElement {
  const similar = similarTo(key, candidatesOf(catalog))
  const failed = catalog.failures.map(({ method }) => method).join(', ')
  return el(
    'div',
    { class: 'card missing' },
    ...(similar.length === 0
      ? []
      : [
          el('p', { class: 'text' }, 'Similar names:'),
          el(
            'ul',
            { class: 'bullets' },
            ...similar.map((each) => el('li', {}, el('a', { href: hrefOf(each) }, each.title))),
          ),
        ]),
    el(
      'p',
      { class: 'note' },
      failed === ''
        ? 'The server does not list it: it may have been renamed or removed. Some servers list other entries to other users, or in other revisions. “Reconnect” loads the lists again.'
        : `The server may have it, but ${failed} failed. “Reconnect” loads the lists again.`,
    ),
  )
}

function candidatesOf({ tool, prompt, resource, template }: Catalog): Candidate[] {
  return [
    ...tool.map((each) => ({ kind: 'tool' as const, key: each.name, title: titleOf(each) })),
    ...prompt.map((each) => ({ kind: 'prompt' as const, key: each.name, title: titleOf(each) })),
    ...resource.map((each) => ({ kind: 'resource' as const, key: each.uri, title: titleOf(each) })),
    ...template.map((each) => ({
      kind: 'template' as const,
      key: each.uriTemplate,
      title: titleOf(each),
    })),
  ]
}

/** The candidates with the most similar keys, most similar first. */
export function similarTo(key: string, candidates: readonly Candidate[]): Candidate[] {
  return candidates
    .map((candidate) => ({ candidate, score: similarity(key, candidate.key) }))
    .filter(({ score }) => score >= MIN_SIMILARITY)
    .toSorted((one, other) => other.score - one.score)
    .slice(0, MAX_SUGGESTIONS)
    .map(({ candidate }) => candidate)
}

/** The share of the pairs of characters that two names have in common, from 0 to 1. */
function similarity(one: string, other: string): number {
  const [mine, theirs] = [pairsOf(one), pairsOf(other)]
  const common = mine.filter((pair) => theirs.includes(pair)).length
  return (2 * common) / Math.max(1, mine.length + theirs.length)
}

function pairsOf(name: string): string[] {
  const text = name
    .slice(0, MAX_COMPARED)
    .toLowerCase()
    .replaceAll(/[^\p{L}\d]/gu, '')
  return Array.from({ length: Math.max(0, text.length - 1) }, (_, at) => text.slice(at, at + 2))
}
