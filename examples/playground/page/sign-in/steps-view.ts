/**
 * The list of a sign-in's steps, which grows as they happen.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#authorization-flow-steps
 */
import { el } from '../dom.ts'
import { icon } from '../icon.ts'
import { jsonBlock } from '../json.ts'
import type { Store } from '../store.ts'
import { duration } from '../time.ts'
import type { SignInStep } from './steps.ts'

/** The lists by their steps. A list moves from the view of connecting to that of the server. */
const lists = new WeakMap<Store<readonly SignInStep[]>, HTMLElement>()

/** Returns the list of steps. It is hidden while there are none. */
export function stepsView(steps: Store<readonly SignInStep[]>): HTMLElement {
  const known = lists.get(steps)
  if (known) return known
  const list = el('ol', { class: 'steps' })
  const element = el(
    'section',
    { class: 'card', 'aria-label': 'Steps of the sign-in' },
    el('h2', { class: 'label' }, 'Steps of the sign-in'),
    list,
  )
  let rows = new Map<number, { step: SignInStep; row: HTMLElement }>()

  function draw(all: readonly SignInStep[]): void {
    element.hidden = all.length === 0
    const before = rows
    rows = new Map()
    for (const step of all) {
      const old = before.get(step.id)
      const row = old?.step === step ? old.row : rowOf(step)
      rows.set(step.id, { step, row })
      // Rows that stay keep the focus
      if (!old) list.append(row)
      else if (old.row !== row) old.row.replaceWith(row)
      before.delete(step.id)
    }
    for (const { row } of before.values()) row.remove()
  }
  steps.subscribe(draw)
  draw(steps.get())
  lists.set(steps, element)
  return element
}

function rowOf({ title, url, state, said, summary, tookMs }: SignInStep): HTMLElement {
  const details = el('details')
  details.append(
    el(
      'summary',
      {},
      state === 'running' ? el('span', { class: 'dot' }) : icon(icons[state]),
      el('span', { class: 'hidden' }, `${labels[state]}: `),
      el('strong', {}, title),
      tookMs !== undefined && el('span', { class: 'took' }, duration(tookMs)),
    ),
    el('code', { class: 'note' }, url),
    ...(said === undefined ? [] : [jsonBlock(said)]),
  )
  return el(
    'li',
    { 'data-state': state },
    details,
    summary !== undefined && el('p', { class: 'note' }, summary),
  )
}

const icons = { done: 'check', failed: 'alert', absent: 'cross' } as const
const labels = { running: 'In progress', done: 'Done', failed: 'Failed', absent: 'Absent' }
