/**
 * Shows how two calls differ: their arguments and their results.
 */
import { grouped } from '../count.ts'
import { differences, formatPath, type Difference } from '../diff.ts'
import { el, type Child } from '../dom.ts'
import { jsonText } from '../json.ts'
import { duration } from '../time.ts'
import type { Call } from './calls.ts'
import { callLabel, hideSecrets } from './summary.ts'

/** The maximum number of differences that are shown. */
const MAX_SHOWN = 200
/** The maximum length of a value, in characters. */
const MAX_VALUE = 2_000

/** Returns what is shown of a value, by the name of its member. */
type Shown = (value: unknown, name: string) => unknown
const same: Shown = (value) => value

/** Creates the comparison of a call with an earlier one. */
export function comparison(before: Call, after: Call): HTMLElement {
  return el(
    'div',
    { class: 'comparison' },
    el('p', {}, el('del', {}, labelOf(before)), ' ', el('ins', {}, labelOf(after))),
    part('Arguments', before.arguments, after.arguments, hideSecrets),
    part('Result', shownResult(before), shownResult(after)),
  )
}

function labelOf(call: Call): string {
  const { durationMs } = call
  return `${callLabel(call)} (${durationMs === undefined ? 'still running' : duration(durationMs)})`
}

/** The result of a call, or the error in place of it. */
function shownResult({ result, error }: Call): unknown {
  return result ?? error ?? null
}

function part(title: string, before: unknown, after: unknown, shown: Shown = same): HTMLElement {
  const found = differences(before, after)
  const more = found.length - MAX_SHOWN
  return el(
    'section',
    {},
    el('h2', { class: 'label' }, title),
    found.length === 0
      ? el('p', { class: 'empty' }, 'No differences.')
      : el(
          'ul',
          { class: 'differences' },
          ...found.slice(0, MAX_SHOWN).map((each) => difference(each, shown)),
        ),
    more > 0 && el('p', { class: 'note' }, `and ${grouped(more)} more`),
  )
}

function difference({ path, kind, before, after }: Difference, shown: Shown): HTMLElement {
  const name = `${path.findLast((part) => typeof part === 'string') ?? ''}`
  return el(
    'li',
    {},
    el('code', { class: 'path' }, formatPath(path) || 'The whole value'),
    el('span', { class: 'chip' }, kind),
    kind !== 'added' && value('del', 'Before', shown(before, name)),
    kind !== 'removed' && value('ins', 'After', shown(after, name)),
  )
}

function value(tag: 'del' | 'ins', label: string, content: unknown): Child {
  const text = jsonText(content)
  const shown = text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text
  return el('div', {}, el('span', { class: 'hidden' }, `${label}: `), el(tag, {}, shown))
}
