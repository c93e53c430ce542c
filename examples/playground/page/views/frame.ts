/**
 * The frame of every view: what is shown, then the parts that do something with it.
 *
 * @see https://www.w3.org/WAI/tutorials/page-structure/
 */
import { el, type Child } from '../dom.ts'
import { icon } from '../icon.ts'
import { jsonBlock } from '../json.ts'

/** What the frame says about its thing. */
export interface FrameFacts {
  /** `Tool`, `Prompt`… */
  kind: string
  title: string
  /** The name or URI that programs use, when it is not the title. */
  name?: string | undefined
  description?: string | undefined
  chips?: readonly string[]
  /** The server's own words on it, shown when asked for. */
  definition?: unknown
}

/** Makes a view. Its heading takes the focus when the view opens. */
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
      description !== undefined && el('p', { class: 'description' }, description),
    ),
    ...parts,
    definition !== undefined && fold('Definition', definition),
  )
}

/** JSON behind a heading that opens it. */
export function fold(title: string, value: unknown): HTMLElement {
  const details = el('details', { class: 'fold' }, el('summary', {}, title))
  details.addEventListener('toggle', () => details.append(jsonBlock(value)), { once: true })
  return details
}

/** A form with one main button, which rests until the work is done; Ctrl or Command with Enter presses it from anywhere inside. */
export function actionForm(
  label: string,
  content: readonly Child[],
  onSubmit: () => Promise<void>,
  extra?: Child,
): HTMLFormElement {
  const submit = el(
    'button',
    { class: 'primary', type: 'submit', 'aria-keyshortcuts': 'Control+Enter' },
    label,
  )
  const form = el('form', { class: 'card' }, ...content, el('footer', {}, submit, extra))
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    if (submit.ariaDisabled) return
    // Not `disabled`, which would throw the focus away.
    submit.ariaDisabled = 'true'
    void onSubmit().finally(() => (submit.ariaDisabled = null))
  })
  form.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit()
  })
  return form
}
