/**
 * The view of the history: every call of the tab, newest first.
 *
 * @see https://www.w3.org/WAI/tutorials/page-structure/
 */
import { alternatives } from '../alternatives.ts'
import { copyButton } from '../copy.ts'
import { el } from '../dom.ts'
import { icon, type IconName } from '../icon.ts'
import { jsonBlock } from '../json.ts'
import { duration, timeOf } from '../time.ts'
import type { Workspace } from '../workspace.ts'
import type { Call } from './calls.ts'
import { comparison } from './comparison.ts'
import { omitSecrets } from './examples.ts'
import { keepForm } from './keep.ts'
import { argumentSummary, callLabel, hideSecrets } from './summary.ts'

const glyphs: Readonly<Record<Exclude<Call['state'], 'running'>, IconName>> = {
  done: 'check',
  failed: 'alert',
  cancelled: 'stop',
}

/** Creates the content of the view. It follows the calls as they begin and end. */
export function historyList(workspace: Workspace): HTMLElement {
  const { calls } = workspace.history
  const list = el('ol', { class: 'calls', 'aria-label': 'Calls' })
  const empty = el('p', { class: 'empty' }, 'There are no calls yet.')
  const compare = el('button', { type: 'button' }, 'Compare')
  const hint = el('span', { class: 'note' }, 'Select two calls to compare them.')
  const clear = el('button', { type: 'button', class: 'quiet' }, 'Clear history')
  const compared = el('section', { 'aria-label': 'Comparison', tabindex: -1 })
  const rows = new Map<Call, { element: HTMLElement; state: Call['state'] }>()
  const selected = new Set<Call>()

  function draw(): void {
    const current = calls.list()
    for (const [call, { element }] of rows) {
      if (current.includes(call)) continue
      element.remove()
      rows.delete(call)
      selected.delete(call)
    }
    for (const [index, call] of current.entries()) {
      const row = rows.get(call)
      // A row shows how its call ended as soon as it has
      if (row?.state === call.state) continue
      const element = callRow(workspace, call, selected, drawButtons)
      const hasFocus = row?.element.contains(document.activeElement) === true
      if (row) row.element.replaceWith(element)
      else list.insertBefore(element, list.children[index] ?? null)
      if (hasFocus) element.querySelector('summary')?.focus()
      rows.set(call, { element, state: call.state })
    }
    empty.hidden = current.length > 0
    list.hidden = clear.hidden = compare.hidden = current.length === 0
    drawButtons()
  }

  function drawButtons(): void {
    // The attribute `disabled` would remove the focus
    compare.ariaDisabled = selected.size === 2 ? null : 'true'
    hint.hidden = selected.size === 2 || compare.hidden
  }

  compare.addEventListener('click', () => {
    const [before, after] = [...selected].sort((a, b) => a.id - b.id)
    if (!before || !after || selected.size !== 2) return
    compared.replaceChildren(comparison(before, after))
    compared.focus()
  })
  clear.addEventListener('click', () => {
    calls.clear()
    compared.replaceChildren()
    // The button is hidden now
    if (clear.hidden) clear.closest('.view')?.querySelector('h1')?.focus()
  })
  calls.subscribe(draw)
  draw()
  return el(
    'div',
    { class: 'history' },
    el('div', { class: 'tools' }, compare, clear, hint),
    compared,
    empty,
    list,
  )
}

function callRow(
  workspace: Workspace,
  call: Call,
  selected: Set<Call>,
  onSelect: () => void,
): HTMLElement {
  const { key, state, startedAt, durationMs, warning } = call
  const box = el('input', {
    type: 'checkbox',
    'aria-label': `Compare ${callLabel(call)}`,
    checked: selected.has(call),
  })
  box.addEventListener('change', () => {
    if (box.checked) selected.add(call)
    else selected.delete(call)
    onSelect()
  })
  const summary = el(
    'summary',
    {},
    state !== 'running' && icon(warning === undefined ? glyphs[state] : 'alert'),
    el('span', { class: 'hidden' }, `${state}: `),
    el(
      'span',
      { class: 'what' },
      el('strong', {}, key),
      ' ',
      el('span', { class: 'arguments' }, argumentSummary(call)),
      warning !== undefined && el('span', { class: 'warning' }, warning),
    ),
    el(
      'span',
      { class: 'times' },
      el('span', {}, durationMs === undefined ? 'running' : duration(durationMs)),
      timeOf(startedAt),
    ),
  )
  const details = el('details', {}, summary)
  details.addEventListener('toggle', () => details.append(callDetails(workspace, call)), {
    once: true,
  })
  return el('li', { 'data-state': warning === undefined ? state : 'warned' }, box, details)
}

function callDetails(workspace: Workspace, call: Call): HTMLElement {
  const { kind, key, arguments: values, result, error, server } = call
  const { history } = workspace
  const route = { kind, key, arguments: values }
  const place = el('div')
  const schema = workspace.connection?.catalog.tool.find(({ name }) => name === key)?.inputSchema
  const button = (label: string, onclick: () => void): HTMLElement =>
    el('button', { type: 'button', class: 'small', onclick }, label)
  const keep = button('Keep as example', () => {
    const close = (text: Node | string): void => {
      place.replaceChildren(text)
      keep.focus()
    }
    place.replaceChildren(keepForm(call, schema, close))
    place.querySelector('input')?.focus()
  })
  const link = (): string =>
    workspace.linkTo({ kind, key, arguments: omitSecrets(values, schema).kept })
  const open = (fill: 'run' | 'edit'): void => {
    history.fillNext(route, fill)
    workspace.show(route)
  }
  const { buttons, body } = alternatives('Show', [
    {
      label: 'Result',
      make: () =>
        error === undefined ? jsonBlock(result, 'Result') : el('p', { class: 'text' }, error),
    },
    { label: 'Arguments', make: () => jsonBlock(hideSecrets(values), 'Arguments') },
  ])
  const isHere = server === workspace.connection?.url
  return el(
    'div',
    { class: 'call' },
    !isHere && el('p', { class: 'note' }, `This was a call of ${server}`),
    el(
      'div',
      { class: 'tools' },
      isHere && button('Run again', () => open('run')),
      isHere && button('Edit and run', () => open('edit')),
      keep,
      isHere && copyButton('Copy link to this call', link, 'Copy link'),
    ),
    place,
    buttons,
    body,
  )
}
