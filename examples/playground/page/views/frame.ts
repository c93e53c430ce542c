/**
 * The frame of every view: a heading with a description, and then the parts of the view.
 *
 * @see https://www.w3.org/WAI/tutorials/page-structure/
 */
import { el, type Child } from '../dom.ts'
import { icon } from '../icon.ts'
import { jsonBlock } from '../json.ts'
import { shorten } from '../shorten.ts'

/** The texts of a frame. */
export interface FrameFacts {
  /** `Tool`, `Prompt`… */
  kind: string
  title: string
  /** The name or URI that programs use, unless it is the title. */
  name?: string | undefined
  description?: string | undefined
  chips?: readonly string[]
  /** The definition from the server, which the user can expand. */
  definition?: unknown
}

/** Creates a view. Its heading receives the focus when the view opens. */
export function frame(facts: FrameFacts, ...parts: readonly Child[]): HTMLElement {
  const { kind, title, name, description, chips = [], definition } = facts
  return el(
    'article',
    { class: 'view' },
    el('a', { class: 'back', href: '#/' }, icon('back'), 'All'),
    el(
      'header',
      {},
      el(
        'p',
        { class: 'eyebrow' },
        kind,
        ...chips.map((chip) => el('span', { class: 'chip' }, chip)),
      ),
      el('h1', { tabindex: -1 }, title),
      name !== undefined && name !== title && el('code', { class: 'name' }, name),
      description !== undefined && el('p', { class: 'description' }, shorten(String(description))),
      definition !== undefined && expandable('Definition', definition),
    ),
    ...parts,
  )
}

/** Creates a heading that expands to show JSON. */
export function expandable(title: string, value: unknown): HTMLElement {
  const details = el('details', { class: 'definition' }, el('summary', {}, title))
  details.addEventListener('toggle', () => details.append(jsonBlock(value, title)), {
    once: true,
  })
  return details
}

/**
 * Creates a form with one main button, which is disabled while the work runs. Ctrl or Command with Enter
 * submits the form.
 */
export function actionForm(
  label: string,
  content: readonly Child[],
  onSubmit: () => Promise<void>,
  ...extras: readonly Child[]
): HTMLFormElement {
  const submit = el(
    'button',
    { class: 'primary', type: 'submit', 'aria-keyshortcuts': 'Control+Enter' },
    label,
  )
  const form = el(
    'form',
    { class: 'card' },
    ...content,
    el('footer', {}, submit, el('span', { class: 'space' }), ...extras),
  )
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    if (submit.ariaDisabled) return
    // The attribute `disabled` would remove the focus
    submit.ariaDisabled = 'true'
    void onSubmit().finally(() => (submit.ariaDisabled = null))
  })
  form.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit()
  })
  return form
}
