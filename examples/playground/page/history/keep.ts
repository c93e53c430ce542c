/**
 * The form that keeps the arguments of a call as a named example.
 */
import type { JsonObject } from 'edgewise/browser'
import { announce } from '../announce.ts'
import { el, newId } from '../dom.ts'
import { showValidity } from '../form/field-errors.ts'
import type { CallTarget } from './calls.ts'
import { keepExample, omitSecrets } from './examples.ts'
import { argumentSummary } from './summary.ts'

const NOT_STORED = 'This browser does not store it: the example lasts until the page is closed.'

/**
 * Creates the form.
 *
 * @param onKept Called when the user has kept the example or cancelled, with what the user has to know.
 */
export function keepForm(
  target: CallTarget,
  schema: JsonObject | undefined,
  onKept: (note: Node | string) => void,
): HTMLElement {
  const { kind, key, server, arguments: values } = target
  const { kept, omitted } = omitSecrets(values, schema)
  const id = newId('example')
  const input = el('input', { id, required: true, maxlength: 80, autocomplete: 'off' })
  input.value = argumentSummary({ arguments: kept }).slice(0, 40) || 'Without arguments'
  input.addEventListener('focus', () => input.select(), { once: true })
  const form = el(
    'form',
    { class: 'card keep' },
    el(
      'div',
      { class: 'field' },
      el('label', { class: 'label', for: id }, 'Name of the example'),
      el('p', { class: 'note' }, noteOn(omitted)),
      input,
    ),
    el(
      'footer',
      {},
      el('button', { class: 'primary', type: 'submit' }, 'Keep'),
      el('button', { class: 'quiet', type: 'button', onclick: () => onKept('') }, 'Cancel'),
    ),
  )
  showValidity(form)
  form.addEventListener('keydown', ({ key: pressed }) => {
    if (pressed === 'Escape') onKept('')
  })
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const { value: name } = input
    const isStored = keepExample(server, { name, kind, key, arguments: values }, schema)
    announce(`Kept “${name}”`)
    onKept(isStored ? '' : el('p', { class: 'note' }, NOT_STORED))
  })
  return form
}

function noteOn(omitted: readonly string[]): string {
  const place = 'Examples are kept in this browser.'
  if (omitted.length === 0) return place
  return `${place} These arguments are left out, as they may be secrets: ${omitted.join(', ')}`
}
