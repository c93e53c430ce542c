/** Selects entries of the timeline by their kind and level, and by the words in them. */
import type { LoggingLevel } from 'edgewise/browser'
import type { Entry, Kind } from './entry.ts'
import { isAtLeast } from './levels.ts'
import type { Body } from './record.ts'

/** Which entries are shown. */
export interface Filter {
  /** The kinds to show. Empty means all. */
  readonly kinds: ReadonlySet<Kind>
  /** The least severe level to show. A failed request counts as an error, and others as `info`. */
  readonly level: LoggingLevel
  /** The words that an entry must contain, in lower case. */
  readonly words: readonly string[]
}

/** Creates a filter. The text is split into words. */
export function createFilter(kinds: Iterable<Kind>, level: LoggingLevel, text: string): Filter {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  return { kinds: new Set(kinds), level, words }
}

/** Whether a filter shows everything. */
export function isEmpty({ kinds, level, words }: Filter): boolean {
  return kinds.size === 0 && level === 'debug' && words.length === 0
}

/**
 * Whether a filter shows an entry. The entries of a group are shown if it is open, or if they contain the words of a
 * search.
 */
export function isShown(entry: Entry, filter: Filter, open: ReadonlySet<Entry>): boolean {
  const { group, members, kind } = entry
  const isSearch = filter.words.length > 0
  if (group && !open.has(group) && !isSearch) return false
  if (matches(entry, filter)) return true
  // The requests of a check fail on purpose. A group of a task shows its last state only
  const looksInside = members && (open.has(entry) || isSearch || kind !== 'check')
  return looksInside ? members.some((each) => matches(each, filter)) : false
}

function matches(entry: Entry, { kinds, level, words }: Filter): boolean {
  const { kind, group } = entry
  if (kind !== 'mark') {
    const isChosen = kinds.size === 0 || kinds.has(kind) || (group && kinds.has(group.kind))
    if (!isChosen || !isAtLeast(entry.level, level)) return false
  }
  return hasWords(entry, words)
}

/** Whether an entry contains all words: in its label, or else in its messages and headers. */
function hasWords(entry: Entry, words: readonly string[]): boolean {
  const { title, about = '', outcome = '', parts } = entry
  const label = `${title} ${about} ${outcome}`.toLowerCase()
  const missing = words.filter((word) => !label.includes(word))
  if (missing.length === 0) return true
  const texts = parts.map(({ note = '', lines = [], body }) => {
    return `${note}\n${lines.join('\n')}\n${body ? bodyText(body) : ''}`.toLowerCase()
  })
  return missing.every((word) => texts.some((text) => text.includes(word)))
}

function bodyText({ json, text }: Body): string {
  return text ?? JSON.stringify(json) ?? ''
}
