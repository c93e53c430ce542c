/**
 * The named examples of an entry, each of which fills its form.
 */
import type { JsonObject } from 'edgewise/browser'
import { el } from '../dom.ts'
import { icon } from '../icon.ts'
import type { CallTarget } from './calls.ts'
import { examplesOf, removeExample, type Example } from './examples.ts'
import { argumentSummary } from './summary.ts'

/** Creates the list; `undefined` if there are no examples. */
export function exampleList(
  { server, kind, key }: Pick<CallTarget, 'server' | 'kind' | 'key'>,
  fill: (values: JsonObject) => void,
): HTMLElement | undefined {
  const examples = examplesOf(server, kind, key)
  if (examples.length === 0) return undefined
  const list = el('ul', { 'aria-label': 'Examples' }, ...examples.map(item))

  function item(example: Example): HTMLElement {
    const { name, arguments: values } = example
    const label = `Remove the example “${name}”`
    const remove = el(
      'button',
      { type: 'button', class: 'quiet icon', 'aria-label': label, title: 'Remove' },
      icon('cross'),
    )
    const row = el(
      'li',
      {},
      el(
        'button',
        {
          type: 'button',
          class: 'small',
          title: argumentSummary(example),
          onclick: () => fill(values),
        },
        name,
      ),
      remove,
    )
    remove.addEventListener('click', () => {
      removeExample(server, example)
      const next = row.nextElementSibling ?? row.previousElementSibling
      row.remove()
      next?.querySelector('button')?.focus()
      if (list.childElementCount === 0) block.remove()
    })
    return row
  }
  const block = el('div', {}, el('span', { class: 'caption' }, 'Examples'), list)
  return block
}
